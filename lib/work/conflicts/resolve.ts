import { newId } from '../../../store/reconcile/new-id.ts';
import type { Session } from '../../../store/records/session.ts';
import { readSession, sessionsOf } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { inWorktreeTurn } from '../../../store/worktrees/worktrees.ts';
import type { ModelChoice } from '../../agents/model-choice.ts';
import { checkState } from '../../code/worktrees/inspect/status.ts';
import { getWorktree, refuseHeld } from '../../code/worktrees/read.ts';
import { CONFLICT, noRebase, rebaseUnderWay } from '../../code/worktrees/rebase/rebase-state.ts';
import { unmergedFiles } from '../../code/worktrees/rebase/unmerged.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { createSession, type NewSession } from '../sessions/lifecycle/create.ts';
import type { SessionNeeds } from '../sessions/live/needs.ts';

/**
 * Starts a session that proposes how to resolve the conflicts, in Plan mode like any other: nothing is changed before
 * the operator approves, and nothing is staged at all. There is one at a time: 409 `session_active`.
 */
export const resolveWithAgent = (
  service: SessionNeeds,
  caseId: string,
  wanted: Pick<NewSession, 'provider' | keyof ModelChoice>,
): Promise<Session> =>
  inWorktreeTurn(service.store, caseId, async () => {
    const id = newId();
    const known = readSession(service.store, caseId, id);
    if (known !== undefined) return known.session;
    const worktree = getWorktree(service.store, caseId);
    await checkState(worktree);
    if (rebaseUnderWay(service.store, caseId) === undefined) throw noRebase();
    refuseHeld(service, caseId);
    refuseSecond(service.store, caseId);
    if ((await unmergedFiles(service.git.at(worktree))).length === 0) {
      throw invalidState(
        'No file is in conflict any more. Send …/conflicts/apply to go on, or …/conflicts/abort.',
      );
    }
    return createSession(service, caseId, { ...wanted, id, type: CONFLICT });
  });

const refuseSecond = (store: Store, caseId: string): void => {
  const waits = (sessionsOf(store, caseId) ?? []).some(
    ({ session }) =>
      session.type === CONFLICT && session.status === 'queued' && session.elsewhere !== true,
  );
  if (!waits) return;
  throw new ServiceError(
    'session_active',
    'A session about these conflicts waits for its turn already. Abort it, or let it start.',
  );
};
