import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { statsAt } from '../../../store/fs/plain-path.ts';
import { counted } from '../../text/wording.ts';
import { commitOf, type OwnGit, uncommitted } from './own-git.ts';

/** A checkout before a merge. It has no uncommitted change of a tracked file. */
interface Before {
  head: string | undefined;
  /** The files that the branch adds and that are not there yet. git refuses to overwrite others. */
  absent: string[];
}

/** Reads what tells the files of a merge from the operator's own. */
export const stateBefore = async (checkout: OwnGit, tip: string): Promise<Before> => {
  const added = await checkout.read(...ADDED, `HEAD...${tip}`);
  return {
    head: await commitOf(checkout, 'HEAD'),
    absent: (added ?? '').split('\0').filter((name) => name !== '' && !isThere(checkout, name)),
  };
};

// A part of its path may be a file, which the branch makes a directory.
const isThere = ({ directory }: OwnGit, name: string): boolean =>
  statsAt(join(directory, name)) !== undefined;

/**
 * Runs a step of a merge. Returns why it failed; undefined also if HEAD has moved and the command `done` succeeds, as when Ctrl-C
 * ends a hook after that.
 */
export const failureOf = async (
  checkout: OwnGit,
  step: readonly string[],
  { head }: Before,
  done: readonly string[],
): Promise<string | undefined> => {
  const why = await checkout.run(...step);
  // Another terminal may have moved HEAD.
  const hasMoved = why !== undefined && (await commitOf(checkout, 'HEAD')) !== head;
  return hasMoved && (await checkout.read(...done)) !== undefined ? undefined : why;
};

interface Failed {
  checkout: OwnGit;
  branch: string;
  onto: string;
  /** The command that rebases the branch in its worktree. */
  rebase: string;
  squash: boolean;
  /** The commit of the branch. */
  tip: string;
  before: Before;
}

/** Takes back what a failed merge left. Returns why it failed, and what to do, also about what could not be taken back. */
export const takeBack = async (failed: Failed, why: string): Promise<string> => {
  const { checkout, branch, onto, rebase } = failed;
  const isConflict = Boolean(await checkout.read('ls-files', '--unmerged'));
  const lock = await lockOf(checkout);
  const undo = lock === undefined ? await undoOf(failed) : undefined;
  const kept = undo && (await checkout.run(...undo));
  const left = await leftText(failed, lock);
  if (left !== undefined) return `The merge failed: ${why}. ${left}`;
  if (kept !== undefined) return `The merge failed: ${why}. It could not be aborted: ${kept}`;
  if (undo === undefined)
    return `Nothing was merged: ${why}. ${lock === undefined ? 'Fix that' : unlocking(lock)}, then merge again`;
  if (isConflict)
    return `${branch} conflicts with ${onto}, so the merge was aborted. Rebase it first: ${rebase}`;
  return `The merge was not committed, so it was aborted: ${why}. Fix that, then merge again`;
};

/** The command that takes back what a failed merge of a commit left; undefined if it left nothing. */
const undoOf = async ({ checkout, squash, tip }: Failed): Promise<string[] | undefined> => {
  if (!squash && (await commitOf(checkout, 'MERGE_HEAD')) === tip) return ['merge', '--abort'];
  if ((await uncommitted(checkout, '--untracked-files=no')) === 0) return undefined;
  if (squash) return ['reset', '--merge'];
  // A fast-forward whose ref could not be updated is in the index; git reset would update that ref, too.
  const isForwarded = (await checkout.read('diff', '--cached', '--quiet', tip, '--')) !== undefined;
  return isForwarded ? ['read-tree', '-m', '-u', tip, 'HEAD'] : undefined;
};

// git leaves the files that it wrote before it failed, and its lock if it was killed. `git reset --merge` keeps such files.
const leftText = async (
  { checkout, before }: Failed,
  lock: string | undefined,
): Promise<string | undefined> => {
  const changed = await uncommitted(checkout, '--untracked-files=no');
  const created = before.absent.filter((name) => isThere(checkout, name));
  if (changed + created.length === 0) return undefined;
  const files = [
    ...(changed > 0 ? [counted(changed, 'changed file')] : []),
    ...(created.length > 0 ? [counted(created.length, 'new file')] : []),
  ].join(' and ');
  const commands = [
    ...(changed > 0 ? [await restoring(checkout)] : []),
    ...(created.length > 0 ? [checkout.typed(...CLEAN, ...created)] : []),
  ].join(' && ');
  return `It left ${files} in ${checkout.directory}. ${lock === undefined ? '' : `${unlocking(lock)}. `}To take them back: ${commands}`;
};

// git reset --hard also overwrites edits of files that are marked assume-unchanged, which git does not report.
const restoring = async (checkout: OwnGit): Promise<string> => {
  const listed = await checkout.read('ls-files', '-v');
  if (listed !== undefined && !/^[a-z] /m.test(listed)) return checkout.typed('reset', '--hard');
  const changed = (await checkout.read('diff', '--name-only', '-z', 'HEAD')) ?? '';
  const names = changed.split('\0').filter(Boolean);
  return checkout.typed('--literal-pathspecs', 'restore', '-SW', '--', ...names);
};

// A name with a star means that file alone; the base may ignore it.
const CLEAN = ['--literal-pathspecs', 'clean', '-f', '-x', '--'];
const ADDED = ['diff', '--name-only', '-z', '--no-renames', '--diff-filter=A'];

const unlocking = (lock: string): string => `If no git command runs there, remove ${lock}`;

const lockOf = async (checkout: OwnGit): Promise<string | undefined> => {
  const lock = await checkout.read(
    'rev-parse',
    '--path-format=absolute',
    '--git-path',
    'index.lock',
  );
  return lock !== undefined && existsSync(lock) ? lock : undefined;
};
