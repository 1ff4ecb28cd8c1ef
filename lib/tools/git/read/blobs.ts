import { createHash } from 'node:crypto';
import { lstat, readFile, readlink } from 'node:fs/promises';
import { ServiceError } from '../../../errors.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { onDisk } from '../run/index-copy.ts';
import { MOST_STORED } from './large-files.ts';

export interface StoredFile {
  /** Read as latin1. */
  path: string;
  mode: '100644' | '100755' | '120000';
  oid: string;
  /** All nine permission bits; git keeps one of them. */
  permissions: number;
}

/**
 * Stores files as objects exactly as they are on disk, without filters or line-ending conversion; links as links. Skips paths
 * that are no file any more. No ref points to the objects yet. Throws `git_failed` for a file of 2 GiB or more.
 */
export const storeFiles = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<StoredFile[]> => {
  if (paths.length === 0) return [];
  const found: FileIn[] = [];
  const input = blobsOf(withFiles(git.place, paths, found));
  // fast-import takes any number of blobs in one process and needs no names, which may not be text.
  const lines = (await git.lines(['fast-import', '--quiet'], { input })).values();
  return found.map((file) => ({ ...file, oid: lines.next().value ?? '' }));
};

type FileIn = Omit<StoredFile, 'oid'>;

async function* withFiles(
  worktree: GitWorktree,
  paths: readonly string[],
  found: FileIn[],
): AsyncGenerator<Buffer> {
  for (const path of paths) {
    const file = await contentOf(onDisk(worktree, path));
    if (file === undefined) continue;
    found.push({ path, mode: file.mode, permissions: file.permissions });
    yield file.content;
  }
}

async function* blobsOf(contents: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let mark = 0;
  for await (const content of contents) {
    mark += 1;
    yield Buffer.from(`blob\nmark :${mark}\ndata ${content.length}\n`);
    yield content;
    yield Buffer.from(`\nget-mark :${mark}\n`);
  }
}

/** The contents of blobs, by id or another name, with one process. Undefined for one that is missing or not a blob. */
export const readBlobs = async (
  git: GitAt,
  names: readonly string[],
): Promise<(Buffer | undefined)[]> => {
  if (names.length === 0) return [];
  const input = names.map((name) => `${name}\n`).join('');
  let left = await git.read(['cat-file', '--batch'], { input, ok: [0, 128] });
  return names.map(() => {
    const head = left.subarray(0, left.indexOf('\n') + 1);
    const [, type, size] = /^[0-9a-f]+ (\w+) (\d+)\n$/.exec(head.toString('latin1')) ?? [];
    const content = left.subarray(head.length, head.length + Number(size ?? 0));
    left = left.subarray(head.length + (size === undefined ? 0 : content.length + 1));
    return type === 'blob' ? content : undefined;
  });
};

/** The object id of a content; `width` is the length of ids in the repository. */
export const blobId = (content: Buffer, width: number): string =>
  createHash(width === 40 ? 'sha1' : 'sha256')
    .update(`blob ${content.length}\0`)
    .update(content)
    .digest('hex');

/** Mode and object id of a file as it is on disk; undefined if it is no file. Stores nothing. */
export const idOnDisk = async (
  worktree: Pick<GitWorktree, 'path'>,
  path: string,
  width: number,
): Promise<string | undefined> => {
  const file = await contentOf(onDisk(worktree, path));
  return file && `${file.mode} ${blobId(file.content, width)}`;
};

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
  if (found.size >= MOST_STORED) throw tooLarge(path);
  const mode = (found.mode & 0o100) === 0 ? '100644' : '100755';
  return { mode, permissions, content: await readFile(path) };
};

const tooLarge = (path: Buffer): ServiceError =>
  new ServiceError(
    'git_failed',
    `The state of the worktree cannot be saved: ${path} has 2 GiB or more. Delete it or move it out of the worktree, then try again.`,
  );
