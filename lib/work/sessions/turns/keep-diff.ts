import { messageOf } from '../../../../store/base/attempt.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { replacePatch } from '../../../../store/sessions/patches.ts';
import { readSinceApproval } from '../../../../store/sessions/session-texts.ts';
import { type StoredSession, sessionDirOf } from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import { keepWorkStart, patchSinceStart } from '../../../code/snapshots/work-start.ts';
import type { WorktreeDiff } from '../../../code/worktrees/inspect/diff.ts';
import { otherCommits } from '../../../code/worktrees/inspect/other-commits.ts';
import { runsLater } from '../../../code/worktrees/inspect/runs-later.ts';
import { getWorktree } from '../../../code/worktrees/read.ts';
import { someOf } from '../../../text/wording.ts';
import { filesHidingText } from '../../../tools/git/read/ident-texts.ts';
import { ignoredUnseen } from '../../../tools/git/read/ignore-rules.ts';
import type { Git } from '../../../tools/git/run/git.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';
import type { KnownChanges } from '../live/changes-part.ts';
import type { TurnNeeds } from '../live/needs.ts';
import { revertedFiles } from '../rules/reverted.ts';

/**
 * Saves diff.patch of a session, also of stopped work, and tells in its stream what the patch does not show. What only
 * supplements the record fails nothing: a line of the stream says that it is unknown.
 */
export const keepDiff = async (
  { store, git, engine }: TurnNeeds,
  kept: StoredSession,
  { patch, shared, changed, left_out: unshown, withheld: secrets, ...counts }: WorktreeDiff,
): Promise<KnownChanges> => {
  const { id, case_id, base_commit } = kept.session;
  const worktree = getWorktree(store, case_id);
  const at = git.at(worktree);
  const dir = sessionDirOf(store, kept);
  await replacePatch(store, { dir, id }, 'diff.patch', shared);
  const transcript = engine.transcript(kept);
  const supplement = <T, F>(read: Promise<T>, otherwise: F, unknown: string): Promise<T | F> =>
    read.catch((error: unknown) => {
      transcript.append('error', { message: `${unknown}: ${messageOf(error)}` });
      return otherwise;
    });
  const note = (names: readonly string[], textOf: typeof leftOutText, code?: 'git_noted'): void => {
    if (names.length > 0)
      transcript.append('error', { ...(code && { code }), message: textOf(names) });
  };
  const hiding = await supplement(filesHidingText(at), [], UNSEARCHED);
  const unseen = (await supplement(ignoredUnseen(at), [], UNKNOWN_IGNORED)).map(pathText);
  const left_out = [...unshown, ...hiding.map(pathText)];
  const withheld = secrets.map(pathText);
  const since = await keepSince(store, git, { dir, id, worktree, secrets });
  const reverted = since === undefined ? [] : revertedFiles({ patch, left_out, since });
  const special = changed.flatMap(({ path, now }) => (now === undefined ? [] : `${path} (${now})`));
  note(special, specialText, 'git_noted');
  note(left_out, leftOutText, 'git_noted');
  note(unseen, unseenText, 'git_noted');
  note(withheld, withheldText, 'git_noted');
  note(reverted, revertedText);
  const others = otherCommits(at, base_commit ?? null);
  const other_commits = await supplement(others, undefined, UNLISTED);
  const unwanted = other_commits?.files ?? [];
  note(
    unwanted.map(({ path }) => path),
    unwantedText,
  );
  transcript.append('diff', { ...counts });
  const runs = await runsLater(patch.toString('utf8'), { git: at, base_commit });
  const isSince = since !== undefined;
  return { files: changed, left_out, unseen, withheld, isSince, runs, reverted, other_commits };
};

interface KeptIn {
  dir: string;
  id: string;
  worktree: WorktreeRecord;
  /** As in the diff. */
  secrets: readonly string[];
}

// What changed since the approval, where that is not all of diff.patch.
const keepSince = async (store: Store, git: Git, { dir, id, worktree, secrets }: KeptIn) => {
  if (readSinceApproval(store, dir) === undefined) return undefined;
  const { shared, since } = await patchSinceStart(git, worktree, secrets);
  await replacePatch(store, { dir, id }, SINCE, shared);
  return since;
};

const UNSEARCHED = 'Whether the attribute ident hides text could not be determined';

const UNKNOWN_IGNORED = 'Which files an ignored .gitignore hides could not be determined';

const UNLISTED = 'The commits of the branch that Dossier did not make could not be listed';

const unwantedText = (paths: readonly string[]): string =>
  `Commits that Dossier did not make contain files that it would have left out: ${someOf(paths)}. The commits are not undone. Remove such files from the history of the branch before you push it.`;

const revertedText = (paths: readonly string[]): string =>
  `Files that differed from the base when the plan was approved were reverted or deleted since: ${someOf(paths)}. since-approval.patch has their content.`;

const specialText = (named: readonly string[]): string =>
  `Tracked files are no longer regular files: ${someOf(named)}. The patch shows them as deleted. Remove them; git cannot read them.`;

const leftOutText = (named: readonly string[]): string =>
  `Not in diff.patch: ${someOf(named)}. The summary in session.md says what it leaves out.`;

const unseenText = (named: readonly string[]): string =>
  `Neither in diff.patch nor committed: ${someOf(named)}. They exist only in the worktree, hidden by a .gitignore that git ignores, too.`;

const withheldText = (named: readonly string[]): string =>
  `Not in diff.patch, because they are named like files with secrets or were copied from your checkout: ${someOf(named)}. They exist only in the worktree.`;

const SINCE = 'since-approval.patch';

/**
 * Records the state of the worktree when approved work begins, unless it is the base itself: then all of diff.patch
 * came since. The empty patch marks that the two differ.
 */
export const recordWorkStart = async (
  service: TurnNeeds,
  kept: StoredSession,
  { patch }: WorktreeDiff,
): Promise<void> => {
  if (patch.length === 0) return;
  const { store, git } = service;
  const { id, case_id } = kept.session;
  await keepWorkStart(git, getWorktree(store, case_id));
  await replacePatch(store, { dir: sessionDirOf(store, kept), id }, SINCE, Buffer.alloc(0));
};
