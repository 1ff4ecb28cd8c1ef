import { changePull, type StoredPull } from '../../../store/codehost/pulls.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { Store } from '../../../store/store.ts';
import { withLogin } from '../../code/projects/git-login.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { counted, shorten } from '../../text/wording.ts';
import { commitOf, isAncestor, symbolicRef } from '../../tools/git/read/repository.ts';
import { pushWithLease } from '../../tools/git/remote/push.ts';
import { remoteCommit } from '../../tools/git/remote/remote.ts';
import type { Git, WithGit } from '../../tools/git/run/git.ts';
import type { Where } from './target.ts';

interface PushedBranch {
  commit: string;
  /** The commit that it replaced: null for a new branch, the same commit where nothing was pushed. */
  replaced: string | null;
}

/** What a push did, for `afterDone`; undefined where the remote had the commit. */
export const pushedText = (
  branch: string,
  remote: string,
  { commit, replaced }: PushedBranch,
): string | undefined =>
  commit === replaced ? undefined : `${branch} was pushed to ${remote} at ${commit.slice(0, 12)}`;

interface Wanted {
  push: Where['push'];
  /** The base branch of the pull request. */
  base: string;
  /** The default branch on the host. */
  main: string;
  /** The commit that the daemon pushed last. */
  pushed: string | null;
}

/**
 * Pushes the worktree's branch to its own name, replacing only its own former commits (409 `remote_moved` otherwise).
 * Never pushes to the base or default branch. Throws 422 where there is nothing to propose.
 */
export const pushBranch = async (
  service: WithCodeHost & WithGit,
  worktree: WorktreeRecord,
  { push, base, main, pushed }: Wanted,
): Promise<PushedBranch> => {
  const { git } = service;
  const ref = `refs/heads/${worktree.branch}`;
  await refuseBaseBranch(git, worktree, [base, main], push.remote);
  const commit = await headToPush(git, worktree, { remote: push.remote, base });
  const login = {
    place: worktree,
    remote: push.remote,
    host: push.host,
    direction: 'push',
  } as const;
  return withLogin(service, login, async (remote) => {
    const there = await remoteCommit(git.at(worktree), { remote, ref });
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

/**
 * The warning for commits below the worktree's base that no branch of the pull request's remotes had when they were last
 * fetched: the push publishes them too. Empty where the base branch was never fetched, which tells nothing.
 */
export const unpublished = async (
  git: Git,
  worktree: WorktreeRecord,
  { where, base }: { where: Where; base: string },
): Promise<string[]> => {
  const { remote } = where.push;
  const main = where.base.remote ?? remote;
  const at = git.at(worktree);
  if ((await commitOf(at, `refs/remotes/${main}/${base}`)) === undefined) return [];
  const not = ['--not', `--remotes=${main}`, `--remotes=${remote}`];
  const format = ['--no-commit-header', '--format=%s'];
  const subjects = await at.text(['rev-list', ...format, worktree.base_commit, ...not, '--']);
  if (subjects === '') return [];
  const lines = subjects.split('\n');
  const named = lines.slice(0, MOST_NAMED).map((line) => shorten(line, LONGEST_SUBJECT));
  const more = lines.length > named.length ? ', …' : '';
  const were = lines.length === 1 ? 'was' : 'were';
  return [
    `It includes ${counted(lines.length, 'commit')} from before this work that ${were} on no branch of ${main} as last fetched: ${named.join(', ')}${more}`,
  ];
};

const MOST_NAMED = 3;
const LONGEST_SUBJECT = 100;

/** Throws 422 where the branch is a base: one of `bases`, the worktree's own base, or the remote's default branch. */
export const refuseBaseBranch = async (
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
    `${worktree.branch} is the base branch, which is never pushed to. Work on another branch.`,
  );
};

const headToPush = async (
  git: Git,
  worktree: WorktreeRecord,
  { remote, base }: { remote: string; base: string },
): Promise<string> => {
  const { branch, base_commit } = worktree;
  const head = await commitOf(git.at(worktree), `refs/heads/${branch}`);
  const proposed = await commitOf(git.at(worktree), `refs/remotes/${remote}/${base}`);
  const starts = [base_commit, proposed].filter((start) => start !== undefined);
  if (head !== undefined && !(await isBehindAny(git, worktree, { head, starts }))) return head;
  throw invalidState(
    `${branch} has no commits that ${base} lacks, so there is nothing to propose. Run a session, or commit in ${worktree.path}.`,
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

// A commit that the repository does not have was pushed by another client.
const refuseOthers = async (
  git: Git,
  worktree: WorktreeRecord,
  { there, commit, pushed }: { there: string | null; commit: string; pushed: string | null },
): Promise<void> => {
  if (there === null) refuseGone(worktree, pushed);
  if (there === null || there === pushed) return;
  if (await isAncestor(git.at(worktree), there, commit)) return;
  throw new ServiceError(
    'remote_moved',
    `${worktree.branch} on the remote has commits that the worktree does not have (${there.slice(0, 12)}). Nothing was overwritten. After a rebase send …/conflicts/push-rebased; else run git fetch and git merge in ${worktree.path}, or use another branch.`,
  );
};

/** Throws 409 `remote_moved` where a commit of the branch was pushed, but the remote has the branch no more. */
export const refuseGone = (
  { branch, case_id }: WorktreeRecord,
  pushed: string | null | undefined,
): void => {
  if (pushed == null) return;
  const at = `/api/cases/${case_id}/pr`;
  throw new ServiceError(
    'remote_moved',
    `${branch} was deleted on the remote after ${pushed.slice(0, 12)} was pushed. Nothing was pushed. Send POST ${at}/sync-state: if the pull request is closed or merged, POST ${at}/create opens another one; else restore the branch on the code host.`,
  );
};

/**
 * Records a push of a pull request's branch. A record with another commit is stale until the host is asked. The caller
 * holds the lock of the pull request.
 */
export const recordPush = async (
  store: Store,
  { case_id, matter }: StoredPull,
  { remote, commit }: { remote: string; commit: string },
): Promise<void> => {
  // The results of checks belong to the commit before.
  const unknown = { stale: true, head_in_sync: null, checks: null };
  const behind = matter.head_sha === commit ? {} : unknown;
  await changePull(store, case_id, { changes: { remote, pushed_commit: commit, ...behind } });
};
