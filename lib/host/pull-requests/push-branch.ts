import { changePull, type StoredPull } from '../../../store/codehost/pulls.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { Store } from '../../../store/store.ts';
import { withLogin } from '../../code/projects/git-login.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { isAncestor } from '../../tools/git/read/ancestry.ts';
import { commitOf, symbolicRef } from '../../tools/git/read/repository.ts';
import { pushWithLease } from '../../tools/git/remote/push.ts';
import { remoteRefs } from '../../tools/git/remote/remote.ts';
import type { Git, WithGit } from '../../tools/git/run/git.ts';
import type { Where } from './target.ts';

export interface PushedBranch {
  commit: string;
  /** What it replaced; null where there was no such branch. The same commit: there was nothing to push. */
  replaced: string | null;
}

interface Wanted {
  push: Where['push'];
  /** The branch that it is proposed for. */
  base: string;
  /** The default branch there. */
  main: string;
  /** What the daemon pushed there last. */
  pushed: string | null;
}

/**
 * Pushes the worktree's branch to its own name, over nothing but its own former commits: 409 `remote_moved` where the
 * remote has others. Never to the base branch or the default branch; 422 where there is nothing to propose.
 */
export const pushBranch = async (
  service: WithCodeHost & WithGit,
  worktree: WorktreeRecord,
  { push, base, main, pushed }: Wanted,
): Promise<PushedBranch> => {
  const { git } = service;
  const ref = `refs/heads/${worktree.branch}`;
  await refuseMain(git, worktree, [base, main], push.remote);
  const commit = await headToPush(git, worktree, { remote: push.remote, base });
  const login = {
    place: worktree,
    remote: push.remote,
    host: push.host,
    direction: 'push',
  } as const;
  return withLogin(service, login, async (remote) => {
    const there = (await remoteRefs(git.at(worktree), { remote }, [ref])).get(ref) ?? null;
    if (there === commit) return { commit, replaced: there };
    await refuseOthers(git, worktree, { there, commit, pushed });
    await pushWithLease(git.at(worktree), {
      remote,
      ref,
      commit,
      expected: there,
      name: push.remote,
    });
    return { commit, replaced: there };
  });
};

interface Target {
  remote: string;
  base: string;
}

/** Throws 422 for a branch that others begin from: one of these, what the worktree began from, or the remote's default. */
export const refuseMain = async (
  git: Git,
  worktree: WorktreeRecord,
  bases: readonly string[],
  remote: string,
): Promise<void> => {
  const main = await symbolicRef(git.at(worktree), `refs/remotes/${remote}/HEAD`);
  const begun = [worktree.base, worktree.base.replace(`${remote}/`, '')];
  const named = [...bases, ...begun, main?.slice(`refs/remotes/${remote}/`.length)];
  if (!named.includes(worktree.branch)) return;
  throw invalidState(
    `${worktree.branch} is the base branch: it is never pushed to. Work on a branch of its own.`,
  );
};

const headToPush = async (
  git: Git,
  worktree: WorktreeRecord,
  { remote, base }: Target,
): Promise<string> => {
  const { branch, base_commit } = worktree;
  const head = await commitOf(git.at(worktree), `refs/heads/${branch}`);
  const proposed = await commitOf(git.at(worktree), `refs/remotes/${remote}/${base}`);
  const starts = [base_commit, proposed].filter((start) => start !== undefined);
  if (head !== undefined && !(await isBehindAny(git, worktree, { head, starts }))) return head;
  throw invalidState(
    `${branch} has no commit that ${base} has not: there is nothing to propose. Run a session, or commit in ${worktree.path}.`,
  );
};

const isBehindAny = async (
  git: Git,
  worktree: WorktreeRecord,
  { head, starts }: { head: string; starts: readonly string[] },
): Promise<boolean> => {
  for (const start of starts) if (await isAncestor(git.at(worktree), head, start)) return true;
  return false;
};

// A commit that is not even here is somebody else's.
const refuseOthers = async (
  git: Git,
  worktree: WorktreeRecord,
  { there, commit, pushed }: { there: string | null; commit: string; pushed: string | null },
): Promise<void> => {
  if (there === null || there === pushed) return;
  if (await isAncestor(git.at(worktree), there, commit)) return;
  throw new ServiceError(
    'remote_moved',
    `${worktree.branch} on the remote has commits that the worktree does not have (${there.slice(0, 12)}). Nothing was overwritten. After a rebase send …/conflicts/push-rebased; else run git fetch and git merge in ${worktree.path}, or use another branch.`,
  );
};

/**
 * Notes that the branch of a pull request was pushed. Where its record tells of another commit it is stale, until the host
 * is asked. Within the pull request's turn.
 */
export const notePushed = async (
  store: Store,
  { case_id, matter }: StoredPull,
  { remote, commit }: { remote: string; commit: string },
): Promise<void> => {
  // What checks said was said of the commit before.
  const unknown = { stale: true, head_in_sync: null, checks: null };
  const behind = matter.head_sha === commit ? {} : unknown;
  await changePull(store, case_id, { changes: { remote, pushed_commit: commit, ...behind } });
};
