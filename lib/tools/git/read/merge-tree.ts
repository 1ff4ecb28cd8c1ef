import { join } from 'node:path';
import type { Checkout, GitAt } from '../run/git.ts';
import { inTemporary } from '../run/temporary.ts';

/** The result of a merge that was only computed. */
export interface TriedMerge {
  /** The merged tree; with conflicts, its files contain markers. */
  tree: string;
  /** The files in conflict, read as latin1. */
  conflicts: string[];
}

/** Two commits to merge. */
export type CommitPair = readonly [one: string, other: string];

/**
 * Merges each pair of commits without a working tree, with one git process, and returns the results in order; undefined for
 * a pair that git cannot merge, such as one without a common ancestor. New objects are written to a temporary directory, so
 * the repository does not change.
 */
export const tryMerges = async (
  git: GitAt<Checkout>,
  pairs: readonly CommitPair[],
): Promise<(TriedMerge | undefined)[]> => {
  if (pairs.length === 0) return [];
  return inTemporary('merge', (objects) => {
    const env = {
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(git.place.common_dir, 'objects'),
    };
    return mergeEach(git.with({ env }), pairs);
  });
};

// git ends at the first pair that it cannot merge, so that the halves are tried again.
const mergeEach = async (
  git: GitAt<Checkout>,
  pairs: readonly CommitPair[],
): Promise<(TriedMerge | undefined)[]> => {
  const input = pairs.map((pair) => `${pair.join(' ')}\n`).join('');
  const { code, stdout } = await git.run(MERGE, { input, ok: [0, 128], read: true });
  if (code === 0) return mergesIn(stdout.toString('latin1'));
  if (pairs.length === 1) return [undefined];
  const half = pairs.length >> 1;
  const first = await mergeEach(git, pairs.slice(0, half));
  return [...first, ...(await mergeEach(git, pairs.slice(half)))];
};

const MERGE = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '--stdin'];

// Each result is its status, its tree and the files in conflict, and ends with an empty field.
const mergesIn = (output: string): TriedMerge[] => {
  const merges: TriedMerge[] = [];
  const fields = output.split('\0');
  for (let at = 0; at + 2 < fields.length; ) {
    const end = fields.indexOf('', at + 2);
    merges.push({ tree: fields[at + 1] ?? '', conflicts: fields.slice(at + 2, end) });
    at = end + 1;
  }
  return merges;
};

/** The files that differ between the two commits of each pair, read as latin1, with one git process. */
export const filesBetween = async (
  git: GitAt<Checkout>,
  pairs: readonly CommitPair[],
): Promise<string[][]> => {
  if (pairs.length === 0) return [];
  const args = ['diff-tree', '--stdin', '-r', '-z', '--name-only', '--no-renames', '--always'];
  const input = pairs.map(([one, other]) => `${other} ${one}\n`).join('');
  const lists: string[][] = [];
  for (const field of await git.names(args, { input })) {
    const isHead = field === pairs[lists.length]?.[1];
    if (isHead) lists.push([]);
    else lists.at(-1)?.push(field);
  }
  return lists;
};
