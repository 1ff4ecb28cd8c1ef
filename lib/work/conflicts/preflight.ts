import { messageOf } from '../../../store/base/attempt.ts';
import type { ConflictMatter, RebaseWish } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { isOurs, listConflicts } from '../../../store/sessions/conflicts.ts';
import { withWorktreeLogin } from '../../code/projects/git-login.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import { refuseReplaced } from '../../code/snapshots/set-aside.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { foreignRebase } from '../../code/worktrees/rebase/rebase-state.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { someOf } from '../../text/wording.ts';
import { type Base, commitNamed, localOrUpstream, upstreamOf } from '../../tools/git/read/base.ts';
import { filesInTheWay } from '../../tools/git/read/in-the-way.ts';
import { commitOf, isAncestor, shortName } from '../../tools/git/read/repository.ts';
import { status, type WorktreeStatus } from '../../tools/git/read/status.ts';
import { fetchInto, pushRemote, remoteCommit, remoteNames } from '../../tools/git/remote/remote.ts';
import type { Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { operationInProgress } from '../../tools/git/write/commit.ts';
import { changedInMerges, pathsToWrite, rebaseState } from '../../tools/git/write/rebase.ts';
import type { SessionNeeds, TurnNeeds } from '../sessions/live/needs.ts';
import { commitsToMove } from './commits-to-move.ts';
import { currentConflict } from './current.ts';

/** What has to be known before the rebase changes anything. */
export interface Preflight
  extends Pick<ConflictMatter, 'onto' | 'onto_commit' | 'orig_head' | 'remote'> {
  upstream: string;
  hasChanges: boolean;
  /** Warnings for the operator. */
  notes: string[];
}

/** Checks whether a rebase can start. Changes nothing but the remote-tracking branch of the base. */
export const preflight = async (
  service: SessionNeeds,
  worktree: WorktreeRecord,
  { onto: wanted, keep_changes = false }: RebaseWish,
): Promise<Preflight> => {
  const { now, head: orig_head } = await headOnBranch(service, worktree);
  const hasChanges = await refuseChanges(service.git.at(worktree), now, keep_changes);
  const [base, remote] = await Promise.all([
    rebaseTarget(service, worktree, wanted),
    remoteBefore(service, worktree, orig_head),
  ]);
  const { name: onto, commit: onto_commit } = base;
  const { upstream, notes: left } = await commitsToMove(service, worktree, {
    orig_head,
    onto_commit,
  });
  await refuseInTheWay(service.git, worktree, { onto: onto_commit, upstream });
  const merges = await mergesLeftOut(service.git.at(worktree), orig_head, upstream);
  const notes = [...base.notes, ...remote.notes, ...left, ...merges];
  return { onto, onto_commit, orig_head, remote: remote.remote, upstream, hasChanges, notes };
};

/** The status and head of a worktree without an operation in progress, on its Work item's branch. Throws otherwise. */
export const headOnBranch = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
): Promise<{ now: WorktreeStatus; head: string }> => {
  await refuseUnderWay(service, worktree);
  const now = await status(service.git.at(worktree));
  return { now, head: onBranch(now, worktree) };
};

/** Throws while any rebase, or another git operation, is in progress in the worktree. */
const refuseUnderWay = async (service: TurnNeeds, worktree: WorktreeRecord): Promise<void> => {
  if ((await currentConflict(service, worktree)) !== undefined) {
    throw new ServiceError(
      'rebase_in_progress',
      'A rebase is already in progress. End it with …/conflicts/apply or …/conflicts/abort, then try again.',
    );
  }
  if ((await rebaseState(service.git.at(worktree))) !== undefined) throw foreignRebase();
  const why = operationInProgress(worktree);
  if (why === undefined) return;
  throw new ServiceError(why.includes('index.lock') ? 'worktree_busy' : 'invalid_state', why);
};

/** The commit of the worktree. Throws 422 on another branch than the Work item's, or with files in conflict. */
const onBranch = ({ branch, head, files }: WorktreeStatus, worktree: WorktreeRecord): string => {
  if (branch !== worktree.branch || head === null) {
    throw invalidState(
      `The worktree is on ${branch ?? 'no branch'}, but the Work item's branch is ${worktree.branch}. Switch to it, then try again.`,
    );
  }
  const unmerged = files.filter(({ code }) => code.includes('U') || /^(?:AA|DD)$/.test(code));
  if (unmerged.length === 0) return head;
  throw invalidState(
    `Files are in conflict: ${someOf(unmerged.map(({ path }) => path))}. Resolve and stage them, then try again.`,
  );
};

const refuseChanges = async (
  git: GitAt<GitWorktree>,
  { files }: WorktreeStatus,
  keep: boolean,
): Promise<boolean> => {
  const changed = files.filter(({ code }) => code !== '??').map(({ path }) => path);
  if (changed.length === 0) return false;
  await refuseReplaced(git);
  if (keep) return true;
  throw changesInTheWay(
    changed,
    `${changed.length === 1 ? 'is' : 'are'} changed but not committed. Commit the changes, or send keep_changes: true, which sets them aside and restores them afterwards.`,
  );
};

/** The error for files with changes; `what` continues a sentence that begins with their names. */
export const changesInTheWay = (files: readonly string[], what: string): ServiceError =>
  new ServiceError('uncommitted_changes', `${files.slice(0, 5).join(', ')} ${what}`, {
    members: { files: files.slice(0, 100) },
  });

const nameOfBase = ({ base, branch }: WorktreeRecord, onto = base): string => {
  // In the worktree, HEAD is the branch itself.
  if (!/^(?:HEAD|@)$/.test(onto) && onto !== branch) return onto;
  throw invalidState(`${onto} is the branch itself. Name another branch or commit with onto.`);
};

/**
 * The target of the rebase: the one that is named, else the base of the worktree, or its upstream once that is ahead.
 */
const rebaseTarget = async (
  service: HostedNeeds,
  worktree: WorktreeRecord,
  wanted: string | undefined,
): Promise<Base> => {
  const git = service.git.at(worktree);
  const name = nameOfBase(worktree, wanted);
  const upstream = wanted === undefined ? await upstreamOf(git, name) : undefined;
  const notes = await refreshed(service, worktree, shortName(upstream, 'refs/remotes/') ?? name);
  const newest = upstream === undefined ? undefined : await localOrUpstream(git, name);
  if (newest !== undefined) return { ...newest, notes: [...notes, ...newest.notes] };
  const commit = await commitNamed(git, name);
  if (commit !== undefined) return { name, commit, notes };
  throw invalidState(
    `The repository has no branch or commit ${name} to rebase onto. Name another one with onto.`,
  );
};

// Fetches a remote target; without an answer, the last fetched state is used.
const refreshed = async (
  service: HostedNeeds,
  worktree: WorktreeRecord,
  onto: string,
): Promise<string[]> => {
  const { git } = service;
  const remotes = await remoteNames(git.at(worktree));
  const remote = remotes.find((name) => onto.startsWith(`${name}/`));
  if (remote === undefined) return [];
  try {
    const branch = onto.slice(remote.length + 1);
    await withWorktreeLogin(service, worktree, { remote, direction: 'fetch' }, (asked) =>
      fetchInto(git.at(worktree), {
        remote: asked,
        branch,
        into: `refs/remotes/${remote}/${branch}`,
      }),
    );
    return [];
  } catch (error) {
    return [`fetching ${onto} failed, so its last fetched state was used: ${messageOf(error)}`];
  }
};

/** The commit of the branch on the remote now. A push after the rebase replaces this commit and no other. */
const remoteBefore = async (
  service: HostedNeeds,
  worktree: WorktreeRecord,
  orig_head: string,
): Promise<{ remote: ConflictMatter['remote']; notes: string[] }> => {
  const { git } = service;
  const name = await pushRemote(git.at(worktree), worktree.branch);
  if (name === undefined) return { remote: null, notes: [] };
  const ref = `refs/heads/${worktree.branch}`;
  const notes: string[] = [];
  const ask = withWorktreeLogin(service, worktree, { remote: name, direction: 'push' }, (remote) =>
    remoteCommit(git.at(worktree), { remote, ref }),
  );
  const commit = await ask.catch(async (error) => {
    notes.push(`reading ${name} failed, so its last fetched state was used: ${messageOf(error)}`);
    return (await commitOf(git.at(worktree), `refs/remotes/${name}/${worktree.branch}`)) ?? null;
  });
  if (commit !== null) await refuseAhead(service, worktree, { name, commit, orig_head });
  return { remote: { name, ref, commit }, notes };
};

// After an earlier rebase that was not pushed, the remote still has the former commits.
const refuseAhead = async (
  { git, store }: GitNeeds,
  worktree: WorktreeRecord,
  { name, commit, orig_head }: { name: string; commit: string; orig_head: string },
): Promise<void> => {
  const earlier = (listConflicts(store, worktree.case_id) ?? [])
    .filter(({ matter }) => matter.branch === worktree.branch && matter.head !== null)
    .filter((kept) => isOurs(store, kept))
    .map(({ matter }) => matter.orig_head);
  for (const head of [orig_head, ...earlier])
    if (await isAncestor(git.at(worktree), commit, head)) return;
  throw new ServiceError(
    'remote_moved',
    `${worktree.branch} on ${name} has commits that the worktree does not have (${commit.slice(0, 12)}), which a push after the rebase would lose. If they are those from before a rebase, run git push --force-with-lease in the worktree; else run git fetch and git merge there first.`,
  );
};

const refuseInTheWay = async (
  git: Git,
  worktree: WorktreeRecord,
  range: { onto: string; upstream: string },
): Promise<void> => {
  const written = await pathsToWrite(git.at(worktree), range);
  const files = await filesInTheWay(git.at(worktree), written);
  if (files.length === 0) return;
  throw changesInTheWay(
    files.map(pathText),
    `would be overwritten: the rebase adds files of that name, and git does not track ${files.length === 1 ? 'this one' : 'these'}. Move your files away, then try again.`,
  );
};

// git calls a rebase clean that leaves out what only merge commits of the branch changed.
const mergesLeftOut = async (
  git: GitAt<GitWorktree>,
  orig_head: string,
  upstream: string,
): Promise<string[]> => {
  const files = await changedInMerges(git, upstream);
  if (files?.length === 0) return [];
  const what =
    files === undefined
      ? 'git cannot tell what merge commits of the branch changed themselves'
      : `merge commits of the branch changed ${firstFive(files.map(pathText))} themselves`;
  return [
    `${what}; a rebase leaves merge commits out, so compare with git diff ${orig_head.slice(0, 12)} afterwards`,
  ];
};

/** The first five for a sentence, and the number of the others. */
export const firstFive = (names: readonly string[]): string =>
  names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
