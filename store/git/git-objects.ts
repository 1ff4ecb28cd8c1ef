import fs from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { CommitObject } from 'isomorphic-git';
import { findGitDir, gitFileLines } from '../fs/git-dir.ts';

export interface GitTreeEntry {
  name: string;
  mode: string;
  oid: string;
  isTree: boolean;
}

/** The objects of a repository, to read. Each is looked up once in the life of a reader: make one for each question. */
export interface GitReader {
  /** The directory that was asked about, from the top of the repository; no names when it is the top. */
  readonly prefix: readonly string[];
  /** Undefined while nothing is committed. */
  head(): Promise<string | undefined>;
  /** With the parents that are there: a shallow clone ends somewhere. */
  commit(oid: string): Promise<CommitObject>;
  entries(tree: string): Promise<GitTreeEntry[]>;
  /** The tree that stands at a path below another, or undefined. */
  treeAt(tree: string, path: readonly string[]): Promise<string | undefined>;
}

/** The repository that a directory lies in, or undefined. Nothing of its configuration is run, nothing is written. */
export const openGitReader = async (directory: string): Promise<GitReader | undefined> => {
  const found = findGitDir(directory);
  if (found === undefined) return undefined;
  const git = await import('./git-package.ts');
  const { head_dir, gitdir, top } = found;
  const shallow = new Set(gitFileLines(join(gitdir, 'shallow')));
  const base = { fs, gitdir, cache: {} };
  const raw = async (oid: string): Promise<Uint8Array> =>
    (await git.readObject({ ...base, oid, format: 'content' })).object as Uint8Array;
  const kept = new Map<string, Promise<GitTreeEntry[]>>();
  const steps = new Map<string, Promise<string | undefined>>();
  const step = (tree: string, name: string): Promise<string | undefined> =>
    remembered(steps, `${tree} ${name}`, async () => subtree(await raw(tree), name));

  return {
    prefix: relative(top, directory).split(sep).filter(Boolean),
    head: () => resolveHead(head_dir, (ref) => git.resolveRef({ ...base, ref })),
    commit: async (oid) => {
      const { commit } = await git.readCommit({ ...base, oid });
      return shallow.has(oid) ? { ...commit, parent: [] } : commit;
    },
    entries: (tree) => remembered(kept, tree, async () => [...parseTree(await raw(tree))]),
    treeAt: async (tree, path) => {
      let at: string | undefined = tree;
      for (const name of path) at = at === undefined ? undefined : await step(at, name);
      return at;
    },
  };
};

const remembered = <T>(
  known: Map<string, Promise<T>>,
  key: string,
  find: () => Promise<T>,
): Promise<T> => {
  const before = known.get(key);
  if (before !== undefined) return before;
  const found = find();
  known.set(key, found);
  return found;
};

const resolveHead = async (
  head_dir: string,
  resolveRef: (ref: string) => Promise<string>,
): Promise<string | undefined> => {
  const [head = ''] = gitFileLines(join(head_dir, 'HEAD'));
  const ref = /^ref: (.*)$/.exec(head)?.[1];
  if (ref === undefined) return head;
  try {
    return await resolveRef(ref);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'NotFoundError')
      return undefined;
    throw error;
  }
};

// The library parses a tree of 10,000 entries in 20 ms; looking for one name in its bytes takes less than one.
const subtree = (bytes: Uint8Array, name: string): string | undefined => {
  for (const entry of parseTree(bytes, Buffer.from(name)))
    return entry.isTree ? entry.oid : undefined;
  return undefined;
};

const OID_BYTES = 20;

/** `<mode> <name>\0<20 bytes of the object's id>`, again and again; with `wanted` only the entry of that name. */
const parseTree = function* (content: Uint8Array, wanted?: Buffer): Generator<GitTreeEntry> {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    const name = bytes.subarray(space + 1, end);
    if (wanted === undefined || wanted.equals(name)) {
      yield {
        name: name.toString('utf8'),
        mode: bytes.toString('latin1', at, space),
        oid: bytes.toString('hex', end + 1, end + 1 + OID_BYTES),
        isTree: bytes[at] === 0x34,
      };
    }
    at = end + 1 + OID_BYTES;
  }
};
