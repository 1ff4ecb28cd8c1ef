import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { lstat, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { hasCode } from '../../../store/base/attempt.ts';
import { isSameFile, statsAt } from '../../../store/fs/plain-path.ts';
import type { Pictured } from '../../../store/records/baseline.ts';
import { commitOf } from '../../tools/git/read/repository.ts';
import { isWithheld } from '../../tools/git/read/secret-names.ts';
import { blobOf, putFiles, removeFiles } from '../../tools/git/read/working-files.ts';
import { ageOf } from '../../tools/git/run/command.ts';
import { GitError, gitProblem } from '../../tools/git/run/error.ts';
import type { Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { isTampered } from '../../tools/git/write/worktree.ts';
import { takePicture } from './picture.ts';
import {
  type Comparison,
  changedFiles,
  difference,
  keepPicture,
  type Pair,
  patchBetween,
  type WorktreeSnapshot,
} from './snapshot.ts';
import { keepRefTargets } from './undo-refs.ts';

export interface RestoreFindings {
  /** The changes since the snapshot. */
  undone: Comparison;
  /** The changes of working files as a patch, without new files that are named like secrets. */
  patch: Buffer;
  /** The ref that keeps the state before the restore, commits and index included; null if nothing changed. */
  kept_ref: string | null;
  /** The ref that keeps what the snapshot's branch pointed to, if it moved while HEAD was elsewhere, as during a rebase. */
  branch_ref?: string | undefined;
}

export interface Restored extends RestoreFindings {
  /** Remaining differences, such as a repository that was created inside the worktree. */
  left: Comparison;
}

/**
 * Restores a worktree exactly to a snapshot, changing only what differs: HEAD, its branch, the index with its flags, and
 * working files with their modes, untracked ones included. The current state is kept first and passed to
 * `beforeUndoing`, which records it before anything changes. Ignored files stay.
 */
export const restore = (
  git: Git,
  worktree: GitWorktree,
  before: WorktreeSnapshot,
  beforeUndoing: (found: RestoreFindings) => Promise<void> = async () => undefined,
): Promise<Restored> =>
  git.turn(worktree, async (now) => {
    const tampered = !before.tampered && (await isTampered(worktree));
    if (tampered) await relink(worktree);
    const looked = await difference(now, {
      before,
      after: await takePicture(now),
    });
    if (!looked.changed) {
      const undone = { ...looked, tampered, changed: tampered };
      return { undone, patch: Buffer.alloc(0), kept_ref: null, left: looked };
    }
    // Compare again, so that the kept, reported and undone states are the same.
    const after = await keepPicture(now, 'undone');
    const pair = { before, after };
    const undone = { ...(await difference(now, pair)), tampered, changed: true };
    const patch = await patchBetween(now, pair, isWithheld);
    const branch_ref = await keepMovedBranch(now, pair);
    await beforeUndoing({ undone, patch, kept_ref: after.ref, branch_ref });
    await putBack(now, pair);
    const last = await takePicture(now);
    const left = await difference(now, { before, after: last });
    return { undone, patch, kept_ref: after.ref, branch_ref, left };
  });

const keepMovedBranch = async (
  git: GitAt<GitWorktree>,
  { before: { branch, head }, after }: Pair,
): Promise<string | undefined> => {
  if (branch === null) return;
  const value = await commitOf(git, branch);
  if (value === undefined || value === head || value === after.head) return;
  return (await keepRefTargets(git, [{ ref: branch, value }])).get(branch);
};

/** Restores the state of a former worktree in a new one. Returns what still differs. */
export const putInto = (git: Git, worktree: GitWorktree, before: Pictured): Promise<Comparison> =>
  git.turn(worktree, async (now) => {
    await putBack(now, { before, after: await takePicture(now) });
    return difference(now, { before, after: await takePicture(now) });
  });

interface RestorePair extends Pair {
  before: Pictured;
}

const putBack = async (git: GitAt<GitWorktree>, pair: RestorePair): Promise<void> => {
  const { before, after } = pair;
  await endOperations(git.place, pair);
  await putHead(git, pair);
  if (before.index !== after.index) await putIndex(git, before);
  // Compare again: index flags of the old index may have hidden changed files.
  const look = await takePicture(git);
  // What was written since the state before was kept is kept, too.
  const now = look.files === after.files ? look : await keepPicture(git, 'undone');
  const files = await changedFiles(git, { before, after: now });
  const isNew = files.map(({ letter }) => letter === 'A');
  await removeFiles(
    git.place,
    files.filter((_, at) => isNew[at]),
  );
  await putFiles(git, {
    files: files.filter((_, at) => !isNew[at]),
    permissions: before.permissions,
  });
  await git.run(['update-index', '-q', '--refresh'], { ok: [0, 1] });
};

// Rewrites the three files that link a worktree and its repository. A directory named `.git` is left as it is, because
// its content is in no picture.
const relink = async ({ path, git_dir, common_dir }: GitWorktree): Promise<void> => {
  if (git_dir === common_dir) return;
  await writeFile(join(git_dir, 'commondir'), `${relative(git_dir, common_dir)}\n`);
  await writeFile(join(git_dir, 'gitdir'), `${join(path, '.git')}\n`);
  const link = join(path, '.git');
  const found = await lstat(link).catch(() => undefined);
  if (found?.isDirectory()) return;
  await rm(link, { force: true });
  await writeFile(link, `gitdir: ${git_dir}\n`);
};

const endOperations = async ({ git_dir }: GitWorktree, { before, after }: Pair): Promise<void> => {
  const started = after.operations.filter((name) => !before.operations.includes(name));
  await Promise.all(started.map((name) => rm(join(git_dir, name), { recursive: true })));
};

const putHead = async (git: GitAt<GitWorktree>, pair: Pair): Promise<void> => {
  const { branch, head } = pair.before;
  if (branch !== null && branch !== pair.after.branch) {
    await git.run(['symbolic-ref', 'HEAD', branch]);
  }
  if (head === null) return putUnborn(git, pair);
  const ref = branch === null ? ['--no-deref', 'HEAD'] : [branch];
  await git.run(['update-ref', '-m', 'dossier: restored', ...ref, head]);
};

const putUnborn = async (git: GitAt<GitWorktree>, { before, after }: Pair): Promise<void> => {
  if (after.head === null || before.branch === null || before.branch !== after.branch) return;
  await git.run(['update-ref', '-d', before.branch]);
};

const LONG_AGO = 1000;

/**
 * Restores the index with git's own protocol: `index.lock` is the lock, and renaming it is the write. The file is
 * complete before it is linked as the lock, so that a lock that a crash left is recognized.
 */
export const putIndex = async (
  git: GitAt<GitWorktree>,
  { index_blob }: Pictured,
): Promise<void> => {
  const index = join(git.place.git_dir, 'index');
  const next = `${index}.dossier`;
  removeOwnLock(next, `${index}.lock`);
  await rm(next, { force: true });
  try {
    const content = index_blob === null ? '' : await blobOf(git, index_blob);
    await writeFile(next, content, { flag: 'wx' });
    // An old mtime makes git compare the content of every file once. A mtime of 0 would disable that check.
    await utimes(next, LONG_AGO, LONG_AGO);
    holdIndex(next, `${index}.lock`);
    renameSync(`${index}.lock`, index);
    if (index_blob === null) await unlink(index);
  } finally {
    await rm(next, { force: true });
  }
};

// A daemon that was killed between the link and the rename left one file under both names. git would keep the lock forever.
const removeOwnLock = (file: string, lock: string): void => {
  const held = statsAt(lock);
  if (held !== undefined && isSameFile(statsAt(file), held)) unlinkSync(lock);
};

const holdIndex = (file: string, lock: string): void => {
  try {
    linkSync(file, lock);
  } catch (error) {
    throw gitProblem(hasCode(error, 'EEXIST') ? locked(lock) : error);
  }
};

const locked = (path: string): GitError =>
  new GitError({ args: ['update-index'], failure: 'busy', lock: { path, age_s: ageOf(path) } });
