import { notice } from '../../../../store/reconcile/items.ts';
import type { Session } from '../../../../store/records/session.ts';
import { type SessionRule, updateSession } from '../../../../store/sessions/sessions.ts';
import { invalidState, orNotFound } from '../../../errors.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { keptSession } from './read.ts';

/** Takes finished work out of what needs the operator. Twice is once; 422 `invalid_state` for a session that is not completed. */
export const dismissSession = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<Session> => {
  await keptSession(service, caseId, id);
  const at = service.store.clock().toISOString();
  const kept = orNotFound(
    await updateSession(service.store, caseId, id, dismiss(at)),
    'session',
    id,
  );
  notice(service.store, caseId);
  return kept.session;
};

const dismiss =
  (at: string): SessionRule =>
  ({ status, dismissed_at }) => {
    if (status !== 'completed')
      throw invalidState(
        `The session is ${status}; only completed work is dismissed. ${NEXT[status] ?? 'Wait for its end, or abort it.'}`,
      );
    return dismissed_at === undefined ? { dismissed_at: at } : undefined;
  };

const NEXT: Partial<Record<Session['status'], string>> = {
  failed: 'Begin another session, or set the state of the Work item.',
  aborted: 'It needs nobody.',
  paused: 'Resume or abort it.',
  plan_ready: 'Approve its plan, send it back, or abort it.',
};
