import fs from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { CommitObject } from 'isomorphic-git';
import { hasCode } from '../base/attempt.ts';
import { findGitDir, gitFileLines } from '../fs/git-dir.ts';

export interface GitTreeEntry {
  name: string;
  mode: string;
  oid: string;
  isTree: boolean;
}

/**
 * Opens the repository that contains a directory, or undefined. Runs nothing from its configuration, writes nothing. Objects
 * are cached for the life of the reader, so create one for each request.
 */
export const openGitReader = async (directory: string) => {
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
    /** The requested directory, relative to the top of the repository; empty for the top. */
    prefix: relative(top, directory).split(sep).filter(Boolean),
    /** The id of the current commit; undefined in an empty repository. */
    head: () => resolveHead(head_dir, (ref) => git.resolveRef({ ...base, ref })),
    /** A commit; without parents at the boundary of a shallow clone. */
    commit: async (oid: string): Promise<CommitObject> => {
      const { commit } = await git.readCommit({ ...base, oid });
      return shallow.has(oid) ? { ...commit, parent: [] } : commit;
    },
    entries: (tree: string) => remembered(kept, tree, async () => [...parseTree(await raw(tree))]),
    /** The tree at a path below another tree, or undefined. */
    treeAt: async (tree: string, path: readonly string[]): Promise<string | undefined> => {
      let at: string | undefined = tree;
      for (const name of path) at = at === undefined ? undefined : await step(at, name);
      return at;
    },
  };
};
export type GitReader = NonNullable<Awaited<ReturnType<typeof openGitReader>>>;

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
    if (hasCode(error, 'NotFoundError')) return undefined;
    throw error;
  }
};

// isomorphic-git parses a tree of 10,000 entries in 20 ms; a search for one name in the bytes takes less than 1 ms.
const subtree = (bytes: Uint8Array, name: string): string | undefined => {
  for (const entry of parseTree(bytes, Buffer.from(name)))
    return entry.isTree ? entry.oid : undefined;
  return undefined;
};

const OID_BYTES = 20;

/** Parses entries `<mode> <name>\0<20 bytes of the object id>`; with `wanted`, only the entry of that name. */
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
