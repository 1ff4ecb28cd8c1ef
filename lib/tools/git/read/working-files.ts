import { chmodSync, lstatSync } from 'node:fs';
import { chmod, lstat, mkdir, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { hasCode, orElse } from '../../../../store/base/attempt.ts';
import { parentsOf } from '../../../../store/base/paths.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { MOST_LISTED, nulls, onDisk } from '../run/index-copy.ts';
import { pathText } from '../run/path-text.ts';

/** A changed file, with its former state. */
export interface FileBefore {
  /** Read as latin1. */
  path: string;
  letter: string;
  /** Its former mode; 000000 if it did not exist. */
  mode: string;
  oid: string;
}

/** Removes files, and directories that become empty. */
export const removeFiles = async (
  worktree: GitWorktree,
  files: readonly FileBefore[],
): Promise<void> => {
  for (const { path } of files) {
    await unlink(onDisk(worktree, path)).catch(unlessGone);
    await removeEmptyParents(worktree, path);
  }
};

const removeEmptyParents = async (worktree: GitWorktree, path: string): Promise<void> => {
  for (const parent of parentsOf(path).reverse()) {
    if (!(await removedIfEmpty(onDisk(worktree, parent)))) return;
  }
};

/**
 * Restores files. A file that equals its index entry is checked out by git, with its line endings; a changed or untracked one
 * gets its former bytes and permissions.
 */
export const putFiles = async (
  git: GitAt<GitWorktree>,
  { files, permissions }: Wanted,
): Promise<void> => {
  const clean = new Set(await git.names(['ls-files', '--stage', '-z']));
  const isClean = ({ mode, oid, path }: FileBefore): boolean =>
    clean.has(`${mode} ${oid} 0\t${path}`);
  const placed: FileBefore[] = [];
  for (const file of files) if (await makeWay(git.place, file)) placed.push(file);
  const checkout = placed.filter(isClean).map((file) => file.path);
  if (checkout.length > 0) {
    const input = nulls(checkout);
    await git.run(['checkout-index', '--force', '-z', '--stdin'], { input });
  }
  for (const { path, mode, oid } of placed.filter((file) => !isClean(file))) {
    const content = await blobOf(git, oid);
    await putFile(
      onDisk(git.place, path),
      content,
      mode === '120000' ? undefined : permissions[path],
    );
  }
};

interface Wanted {
  files: readonly FileBefore[];
  permissions: Readonly<Record<string, number>>;
}

/** The content of an object, whatever its size. */
export const blobOf = (git: GitAt, oid: string): Promise<Buffer> =>
  git.read(['cat-file', 'blob', oid], { max_bytes: Number.MAX_SAFE_INTEGER });

// A directory that is not empty (ignored files, a repository) stays, and the file is not restored.
const makeWay = async (worktree: GitWorktree, { path }: FileBefore): Promise<boolean> => {
  await makeParents(worktree, path);
  const found = await lstat(onDisk(worktree, path)).catch(() => undefined);
  return !found?.isDirectory() || removedIfEmpty(onDisk(worktree, path));
};

// A link in place of a parent directory would lead out of the worktree. It was created since, so it is removed.
const makeParents = async (worktree: GitWorktree, path: string): Promise<void> => {
  for (const parent of parentsOf(path)) {
    const directory = onDisk(worktree, parent);
    const found = await lstat(directory).catch(() => undefined);
    if (found?.isDirectory()) continue;
    if (found !== undefined) await unlink(directory);
    await mkdir(directory);
  }
};

const putFile = async (target: Buffer, content: Buffer, permissions?: number): Promise<void> => {
  await unlink(target).catch(unlessGone);
  if (permissions === undefined) return symlink(content, target);
  // Private until its permissions are set, independent of the umask.
  await writeFile(target, content, { flag: 'wx', mode: 0o600 });
  await chmod(target, permissions);
};

/**
 * The topmost of a path and its parents that is no directory; undefined if all are. `known` has what was found for other
 * paths.
 */
export const topmost = async (
  worktree: Pick<GitWorktree, 'path'>,
  path: string,
  known = new Map<string, Kind>(),
): Promise<{ place: string; kind: Kind } | undefined> => {
  for (const place of [...parentsOf(path), path]) {
    const kind = known.get(place) ?? (await kindOf(onDisk(worktree, place)));
    known.set(place, kind);
    if (kind !== 'directory') return { place, kind };
  }
  return undefined;
};

export type Kind = 'directory' | 'file' | 'else' | 'absent';

/** What is at a path on disk; a link is `else`. */
export const kindOf = async (path: Buffer): Promise<Kind> => {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 'absent';
  if (found.isDirectory()) return 'directory';
  return found.isFile() ? 'file' : 'else';
};

const removedIfEmpty = (directory: Buffer): Promise<boolean> =>
  rmdir(directory).then(
    () => true,
    () => false,
  );

const unlessGone = (error: unknown): void => {
  if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
};

const READ = 0o400;

/** Restores the owner's read permission on files that git has to read, and returns their paths. */
export const makeReadable = async (git: GitAt<GitWorktree>): Promise<string[]> => {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const paths = new Set(await git.names(args, { max_bytes: MOST_LISTED }));
  return [...paths]
    .filter((path) => isOpened(onDisk(git.place, path)))
    .map(pathText)
    .toSorted();
};

// False also if the file is gone, or belongs to another user.
const isOpened = (path: Buffer): boolean =>
  orElse(() => {
    const found = lstatSync(path);
    if (!found.isFile() || (found.mode & READ) !== 0) return false;
    chmodSync(path, (found.mode & 0o7777) | READ);
    return true;
  }, false);
