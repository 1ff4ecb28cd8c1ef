import { isEnded } from '../../../../store/records/session.ts';
import { type StoredSession, sessionsOf } from '../../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../../store/store.ts';
import { invalidState } from '../../../errors.ts';
import { getCase } from '../../cases/read.ts';
import { refuseElsewhere } from '../rules/rules.ts';
import { decided } from './decide.ts';

/**
 * The session that holds the lock, or the oldest that has not ended. 422 when there is none, or only one that another
 * machine runs.
 */
export const activeSession = async (
  { store }: WithStore,
  caseId: string,
): Promise<StoredSession> => {
  await getCase(store, caseId);
  await decided(store, caseId);
  const open = (sessionsOf(store, caseId) ?? []).filter(({ session }) => !isEnded(session.status));
  const ours = open.filter(({ session }) => session.elsewhere !== true);
  const active = ours.find(({ session }) => session.status !== 'queued') ?? ours[0];
  if (active !== undefined) return active;
  for (const { session } of open) refuseElsewhere(session);
  throw invalidState('The Work item has no active session.');
};
