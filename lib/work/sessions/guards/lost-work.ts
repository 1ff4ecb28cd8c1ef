import type { Session } from '../../../../store/records/session.ts';
import type { Store } from '../../../../store/store.ts';
import { isWorktreeLost } from '../../../code/worktrees/create/create.ts';
import { ServiceError } from '../../../errors.ts';

/** What is lost, as a sentence, of Work mode whose worktree is gone with its record; undefined when it can go on. */
export const lostWork = async (
  store: Store,
  { case_id, mode, branch }: Session,
): Promise<string | undefined> => {
  if (mode !== 'work' || !(await isWorktreeLost(store, case_id))) return undefined;
  return `The session was stopped, and its worktree is gone since, as when .dossier/ is removed. What was not committed there is lost; commits are on the branch ${branch}. Abort the session, then create a new one.`;
};

/** Throws 409 `worktree_missing` for a paused session of this kind: its plan would go on where nothing was begun. */
export const refuseLost = async (store: Store, session: Session): Promise<void> => {
  const lost = session.status === 'paused' ? await lostWork(store, session) : undefined;
  if (lost !== undefined) throw new ServiceError('worktree_missing', lost);
};
