import { lstat, readFile, readlink } from 'node:fs/promises';
import type { GitAt, GitPlace, GitWorktree } from '../run/git.ts';
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
  const { files } = await storeWith(git, [], [{ from: git.place, paths }]);
  return files[0] ?? [];
};

interface FilesOf {
  from: Pick<GitWorktree, 'path'>;
  /** Read as latin1, byte for byte. */
  paths: readonly string[];
}

/** The same of files in several directories, and of contents that are at hand, with one process. */
export const storeWith = async (
  git: GitAt<GitPlace>,
  contents: readonly Buffer[],
  places: readonly FilesOf[],
): Promise<{ oids: string[]; files: StoredFile[][] }> => {
  const isNothing = contents.length === 0 && places.every(({ paths }) => paths.length === 0);
  if (isNothing) return { oids: [], files: places.map(() => []) };
  const found: FileIn[][] = places.map(() => []);
  const input = blobsOf(withFiles(contents, places, found));
  // fast-import takes any number of contents in one process, and is told no names: those need not be text.
  const lines = (await git.lines(['fast-import', '--quiet'], { input })).values();
  const next = (): string => lines.next().value ?? '';
  const oids = contents.map(next);
  return { oids, files: found.map((each) => each.map((file) => ({ ...file, oid: next() }))) };
};

type FileIn = Omit<StoredFile, 'oid'>;

async function* withFiles(
  contents: readonly Buffer[],
  places: readonly FilesOf[],
  found: FileIn[][],
): AsyncGenerator<Buffer> {
  yield* contents;
  for (const [at, { from, paths }] of places.entries())
    for (const path of paths) {
      const file = await contentOf(onDisk(from, path));
      if (file === undefined) continue;
      found[at]?.push({ path, mode: file.mode, permissions: file.permissions });
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
