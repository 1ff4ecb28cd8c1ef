import type { HistoryEntry } from '../records/history.ts';
import type { GitReader, GitTreeEntry } from './git-objects.ts';

export type FileChange = HistoryEntry['files'][number];

/** What a commit itself changed in a directory: in a merge, the files that differ from each of its parents. */
export const changesOf = async (
  git: GitReader,
  now: string | undefined,
  parents: readonly (string | undefined)[],
): Promise<FileChange[]> => {
  const before = parents.length === 0 ? [undefined] : parents;
  const [first = [], ...others] = await Promise.all(
    before.map((tree) => compareTrees(git, tree, now)),
  );
  return first.filter(({ path }) =>
    others.every((changes) => changes.some((change) => change.path === path)),
  );
};

/** The files that differ, by path from the directory compared. Equal subtrees are not opened. */
const compareTrees = async (
  git: GitReader,
  before: string | undefined,
  now: string | undefined,
  folder = '',
): Promise<FileChange[]> => {
  const changes: FileChange[] = [];
  for (const [name, was, is] of pairs(await entriesOf(git, before), await entriesOf(git, now))) {
    const path = folder + name;
    changes.push(...fileChange(was, is, path));
    const [from, to] = [treeOf(was), treeOf(is)];
    if (from !== to) changes.push(...(await compareTrees(git, from, to, `${path}/`)));
  }
  return changes;
};

const entriesOf = async (
  git: GitReader,
  tree: string | undefined,
): Promise<readonly GitTreeEntry[]> => (tree === undefined ? [] : git.entries(tree));

type Pair = [name: string, was: GitTreeEntry | undefined, is: GitTreeEntry | undefined];

const pairs = (before: readonly GitTreeEntry[], now: readonly GitTreeEntry[]): Pair[] => {
  const was = new Map(before.map((entry) => [entry.name, entry]));
  const is = new Map(now.map((entry) => [entry.name, entry]));
  const names = [...new Set([...was.keys(), ...is.keys()])].sort();
  return names.map((name) => [name, was.get(name), is.get(name)]);
};

const fileChange = (
  was: GitTreeEntry | undefined,
  is: GitTreeEntry | undefined,
  path: string,
): FileChange[] => {
  const [from, to] = [fileOf(was), fileOf(is)];
  if (from === to) return [];
  if (from === undefined) return [{ path, change: 'added' }];
  return [{ path, change: to === undefined ? 'removed' : 'modified' }];
};

const fileOf = (entry: GitTreeEntry | undefined): string | undefined =>
  entry === undefined || entry.isTree ? undefined : `${entry.mode} ${entry.oid}`;

const treeOf = (entry: GitTreeEntry | undefined): string | undefined =>
  entry?.isTree === true ? entry.oid : undefined;
