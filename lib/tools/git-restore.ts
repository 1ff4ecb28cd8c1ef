import {
  chmod,
  lstat,
  mkdir,
  open,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, Runner, Worktree } from './git.ts';
import { GitError, gitProblem } from './git-error.ts';
import { nulls, onDisk } from './git-index.ts';
import { takePicture } from './git-picture.ts';
import {
  type ChangedFile,
  type Comparison,
  changedFiles,
  difference,
  keep,
  patchBetween,
  type Snapshot,
} from './git-snapshot.ts';

export interface Restored {
  /** What had changed since the snapshot. */
  undone: Comparison;
  /** The working files' part of it as a patch. */
  patch: Buffer;
  /** The whole state as it was found, commits and index included, is kept under this ref; null when nothing changed. */
  kept_ref: string | null;
  /** What still differs from the snapshot: nothing, unless repositories were made inside the worktree or the like. */
  left: Comparison;
}

/**
 * Puts a worktree back exactly as the snapshot has it, and only what differs: HEAD, its branch, the index with its
 * flags, working files with their modes, untracked ones too. What is undone is kept first. Ignored files stay.
 */
export const restore = (git: Git, worktree: Worktree, before: Snapshot): Promise<Restored> =>
  git.turn(worktree.common_dir, async (run) => {
    const now = { run };
    const after = await keep(now, worktree, 'undone');
    const pair = { before, after };
    const undone = await difference(now, worktree, pair);
    const patch = await patchBetween(now, worktree, pair);
    if (!undone.changed) {
      await run(worktree, ['update-ref', '-d', after.ref]);
      return { undone, patch, kept_ref: null, left: undone };
    }
    if (undone.tampered) await relink(worktree);
    await endOperations(worktree, pair);
    await putHead(now, worktree, pair);
    const files = await changedFiles(now, worktree, pair);
    await removeFiles(worktree, files.filter(isNew));
    if (undone.index) await putIndex(now, worktree, before);
    await putFiles(
      now,
      worktree,
      files.filter((file) => !isNew(file)),
    );
    await run(worktree, ['update-index', '-q', '--refresh'], { ok: [0, 1] });
    const left = await difference(now, worktree, {
      before,
      after: await takePicture(now, worktree),
    });
    return { undone, patch, kept_ref: after.ref, left };
  });

interface Pair {
  before: Snapshot;
  after: Snapshot;
}

const isNew = ({ letter }: ChangedFile): boolean => letter === 'A';

// A directory in its place is left as it is: it may hold what no picture shows.
const relink = async ({ path, git_dir }: Worktree): Promise<void> => {
  const link = join(path, '.git');
  const found = await lstat(link).catch(() => undefined);
  if (found?.isDirectory()) return;
  await rm(link, { force: true });
  await writeFile(link, `gitdir: ${git_dir}\n`);
};

const endOperations = async ({ git_dir }: Worktree, { before, after }: Pair): Promise<void> => {
  const started = after.operations.filter((name) => !before.operations.includes(name));
  await Promise.all(started.map((name) => rm(join(git_dir, name), { recursive: true })));
};

const putHead = async (git: Runner, worktree: Worktree, { before, after }: Pair): Promise<void> => {
  const { branch, head } = before;
  if (branch !== null && branch !== after.branch)
    await git.run(worktree, ['symbolic-ref', 'HEAD', branch]);
  if (head === null) return putUnborn(git, worktree, { before, after });
  if (branch === null) await git.run(worktree, ['update-ref', '--no-deref', 'HEAD', head]);
  else await git.run(worktree, ['update-ref', '-m', 'dossier: restored', branch, head]);
};

const putUnborn = async (
  git: Runner,
  worktree: Worktree,
  { before, after }: Pair,
): Promise<void> => {
  if (after.head === null || before.branch === null || before.branch !== after.branch) return;
  await git.run(worktree, ['update-ref', '-d', before.branch]);
};

const removeFiles = async (worktree: Worktree, files: readonly ChangedFile[]): Promise<void> => {
  for (const { path } of files) {
    await unlink(onDisk(worktree, path)).catch(unlessGone);
    await removeEmptyParents(worktree, path);
  }
};

const removeEmptyParents = async (worktree: Worktree, path: string): Promise<void> => {
  for (const parent of parentsOf(path).reverse()) {
    const removed = await rmdir(onDisk(worktree, parent)).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
};

// As git itself does it: whoever makes the lock file holds the index, and its renaming is the write.
const putIndex = async (
  git: Runner,
  worktree: Worktree,
  { index_blob }: Snapshot,
): Promise<void> => {
  const index = join(worktree.git_dir, 'index');
  const lock = `${index}.lock`;
  const file = await open(lock, 'wx').catch((error) => {
    throw gitProblem(error.code === 'EEXIST' ? locked(lock) : error);
  });
  try {
    if (index_blob !== null) await file.writeFile(await contentOf(git, worktree, index_blob));
    await file.close();
    await rename(lock, index);
    if (index_blob === null) await unlink(index);
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  }
};

const locked = (path: string): GitError =>
  new GitError({ args: ['update-index'], failure: 'busy', lock: { path, age_s: 0 } });

const contentOf = async (git: Runner, worktree: Worktree, oid: string): Promise<Buffer> =>
  (
    await git.run(worktree, ['cat-file', 'blob', oid], {
      read: true,
      max_bytes: Number.MAX_SAFE_INTEGER,
    })
  ).stdout;

/** Clean files come back as git checks them out, with line endings; changed ones as the bytes that were there. */
const putFiles = async (
  git: Runner,
  worktree: Worktree,
  files: readonly ChangedFile[],
): Promise<void> => {
  const clean = new Set(await indexLines(git, worktree));
  const placed: ChangedFile[] = [];
  for (const file of files) if (await makeWay(worktree, file)) placed.push(file);
  const isClean = ({ mode, oid, path }: ChangedFile): boolean =>
    clean.has(`${mode} ${oid} 0\t${path}`);
  const checkout = placed.filter(isClean).map((file) => file.path);
  const input = nulls(checkout);
  if (checkout.length > 0)
    await git.run(worktree, ['checkout-index', '--force', '-z', '--stdin'], { input });
  for (const file of placed) {
    if (!isClean(file)) await putFile(worktree, file, await contentOf(git, worktree, file.oid));
  }
};

const indexLines = async (git: Runner, worktree: Worktree): Promise<string[]> => {
  const { stdout } = await git.run(worktree, ['ls-files', '--stage', '-z'], { read: true });
  return stdout.toString('latin1').split('\0');
};

const putFile = async (
  worktree: Worktree,
  { path, mode }: ChangedFile,
  content: Buffer,
): Promise<void> => {
  const target = onDisk(worktree, path);
  const found = await lstat(target).catch(() => undefined);
  await unlink(target).catch(unlessGone);
  if (mode === '120000') return symlink(content, target);
  await writeFile(target, content, { flag: 'wx' });
  // The private stays private: an operator's 0600 file must not come back readable to all.
  const kept = found?.isFile() ? found.mode & 0o666 : (await lstat(target)).mode & 0o666;
  await chmod(target, mode === '100755' ? kept | ((kept & 0o444) >> 2) : kept);
};

// A directory that still holds something (ignored files, a repository) stays, and its file is reported as left.
const makeWay = async (worktree: Worktree, { path }: ChangedFile): Promise<boolean> => {
  await makeParents(worktree, path);
  const found = await lstat(onDisk(worktree, path)).catch(() => undefined);
  if (!found?.isDirectory()) return true;
  return rmdir(onDisk(worktree, path)).then(
    () => true,
    () => false,
  );
};

// A link in a parent's place would lead the write out of the worktree; it was made since, so it goes.
const makeParents = async (worktree: Worktree, path: string): Promise<void> => {
  for (const parent of parentsOf(path)) {
    const directory = onDisk(worktree, parent);
    const found = await lstat(directory).catch(() => undefined);
    if (found?.isDirectory()) continue;
    if (found !== undefined) await unlink(directory);
    await mkdir(directory);
  }
};

const parentsOf = (path: string): string[] => {
  const names = path.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
};

const unlessGone = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
};
