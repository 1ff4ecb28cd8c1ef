import { lstat, readFile, readlink } from 'node:fs/promises';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { onDisk } from '../run/index-file.ts';

export interface StoredFile {
  /** Read as latin1, byte for byte. */
  path: string;
  mode: '100644' | '100755' | '120000';
  oid: string;
  /** All nine bits, of which git itself keeps one. */
  permissions: number;
}

/**
 * Stores files in the repository exactly as they are on disk, past every filter and line-ending rule, links as
 * links. What is no file any more (deleted, or a directory now) is left out. Nothing refers to the objects yet.
 */
export const storeFiles = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<StoredFile[]> => {
  if (paths.length === 0) return [];
  const stored: Omit<StoredFile, 'oid'>[] = [];
  const input = stream(git.place, paths, stored);
  // fast-import takes any number of contents in one process, and is told no names: those need not be text.
  const stdout = await git.read(['fast-import', '--quiet'], { input });
  const oids = stdout.toString('latin1').split('\n');
  return stored.map((file, at) => ({ ...file, oid: oids[at] ?? '' }));
};

async function* stream(
  worktree: GitWorktree,
  paths: readonly string[],
  stored: Omit<StoredFile, 'oid'>[],
): AsyncGenerator<Buffer> {
  for (const path of paths) {
    const file = await contentOf(onDisk(worktree, path));
    if (file === undefined) continue;
    stored.push({ path, mode: file.mode, permissions: file.permissions });
    const mark = stored.length;
    yield Buffer.from(`blob\nmark :${mark}\ndata ${file.content.length}\n`);
    yield file.content;
    yield Buffer.from(`\nget-mark :${mark}\n`);
  }
}

interface Content extends Pick<StoredFile, 'mode' | 'permissions'> {
  content: Buffer;
}

const contentOf = async (path: Buffer): Promise<Content | undefined> => {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  const permissions = found.mode & 0o777;
  if (found.isSymbolicLink()) {
    return { mode: '120000', permissions, content: await readlink(path, 'buffer') };
  }
  if (!found.isFile()) return undefined;
  const mode = (found.mode & 0o100) === 0 ? '100644' : '100755';
  return { mode, permissions, content: await readFile(path) };
};
