import { orElse } from '../../../../store/base/attempt.ts';
import type { UncommittedWorktree } from '../../../../store/records/worktree-upkeep.ts';
import { sessionsOrNone } from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { readWorktree, worktreeOwners } from '../../../../store/worktrees/worktrees.ts';
import { commitOf } from '../../../tools/git/read/repository.ts';
import { repositoryOf, type WithGit } from '../../../tools/git/run/git.ts';

/**
 * The worktrees whose last session in Work mode left changes uncommitted, from the records of sessions. Reads the branch from
 * git's files, and no worktree, so it is fast for any number of them.
 */
export const uncommittedWorktrees = async ({
  git,
  store,
}: WithGit & WithStore): Promise<UncommittedWorktree[]> => {
  const found: UncommittedWorktree[] = [];
  for (const case_id of worktreeOwners(store.layout)) {
    const left = lastLeft(store, case_id);
    // An unreadable record is reported by other calls.
    const record = left && orElse(() => readWorktree(store, case_id), undefined);
    if (left === undefined || record === undefined) continue;
    // Without a head the branch was deleted.
    const { head, ...uncommitted } = left;
    const now = await commitOf(git.at(repositoryOf(record)), `refs/heads/${record.branch}`);
    if (head === now) found.push(uncommitted);
  }
  return found;
};

const lastLeft = (
  store: Store,
  case_id: string,
): (UncommittedWorktree & { head: string | undefined }) | undefined => {
  const sessions = sessionsOrNone(store, case_id);
  const last = sessions.findLast(({ session: { mode } }) => mode === 'work')?.session;
  const { id, head, files = 0, left_out = [], message, reason } = last?.commit ?? {};
  // A commit may say other things only.
  if (last === undefined || id !== null || message == null) return undefined;
  if (files + left_out.length === 0 && reason == null) return undefined;
  const left = { case_id, session_id: last.id, files: files + left_out.length, message };
  return { ...left, head: head ?? undefined };
};
