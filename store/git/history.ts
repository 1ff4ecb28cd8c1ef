import type { CommitObject } from 'isomorphic-git';
import type { HistoryEntry } from '../records/history.ts';
import { type GitReader, type GitTreeEntry, openGitReader } from './git-objects.ts';

interface HistoryQuery {
  /** The directory of the Work item, relative to the workspace. */
  dir: string;
  /** When the item was created: older commits without it are skipped. */
  since: Date;
  limit: number;
}

const MAX_COMMITS = 5000;
const SLACK_S = 86_400;

/**
 * The commits that changed a directory of the workspace, newest first, as `git log -- <dir>` lists them; merges only if they
 * changed something themselves. Follows a rename of the whole directory. Empty without a repository. Reads at most 5,000
 * commits. Throws if the repository cannot be read.
 */
export const readHistory = async (
  workspace: string,
  { dir, since, limit }: HistoryQuery,
): Promise<HistoryEntry[]> => {
  const git = await openGitReader(workspace);
  const head = await git?.head();
  if (git === undefined || head === undefined) return [];
  const oldest = since.getTime() / 1000 - SLACK_S;
  const start = await placeAt(git, head, [...git.prefix, ...dir.split('/')]);
  const entries: HistoryEntry[] = [];
  for await (const entry of walk(git, start, oldest)) {
    entries.push(entry);
    if (entries.length >= limit) break;
  }
  return entries;
};

const walk = async function* (
  git: GitReader,
  start: Place,
  oldest: number,
): AsyncGenerator<HistoryEntry> {
  const ahead = newestFirst(start);
  for (let looked = 0; looked < MAX_COMMITS; looked += 1) {
    const here = ahead.take();
    if (here === undefined) return;
    if (here.tree === undefined && timeOf(here) < oldest) continue;
    const { entry, next } = await visit(git, here);
    next.forEach(ahead.add);
    if (entry !== undefined) yield entry;
  }
};

/** A commit, and the directory in it. */
interface Place {
  oid: string;
  commit: CommitObject;
  path: readonly string[];
  tree: string | undefined;
}

const placeAt = async (git: GitReader, oid: string, path: readonly string[]): Promise<Place> => {
  const commit = await git.commit(oid);
  return { oid, commit, path, tree: await git.treeAt(commit.tree, path) };
};

/** A queue of commits, newest first, that returns each one once. */
const newestFirst = (head: Place) => {
  const waiting = [head];
  const known = new Set([head.oid]);
  return {
    take: () => waiting.shift(),
    add: (place: Place): void => {
      if (known.has(place.oid)) return;
      known.add(place.oid);
      const at = waiting.findIndex((other) => timeOf(other) < timeOf(place));
      waiting.splice(at === -1 ? waiting.length : at, 0, place);
    },
  };
};

const timeOf = ({ commit }: Place): number => commit.committer.timestamp;

interface Look {
  entry?: HistoryEntry;
  /** The commits to visit next. */
  next: Place[];
}

const visit = async (git: GitReader, here: Place): Promise<Look> => {
  const parents = await Promise.all(here.commit.parent.map((oid) => placeAt(git, oid, here.path)));
  // The directory is unchanged from this parent. The other parents are skipped, as in git log.
  const same = parents.find(({ tree }) => tree === here.tree);
  if (same !== undefined) return { next: [same] };
  if (parents.length === 0 && here.tree === undefined) return { next: [] };
  const old = await placeBefore(git, here, parents);
  if (old !== undefined) return { entry: entryOf(here, []), next: [old] };
  const files = await changesOf(
    git,
    here.tree,
    parents.map(({ tree }) => tree),
  );
  const untouched = parents.length > 1 && files.length === 0;
  return untouched ? { next: parents } : { entry: entryOf(here, files), next: parents };
};

const entryOf = ({ oid, commit }: Place, files: FileChange[]): HistoryEntry => ({
  commit: oid,
  author: commit.author.name,
  email: commit.author.email,
  at: new Date(commit.author.timestamp * 1000).toISOString(),
  message: commit.message.trimEnd(),
  files,
});

/** The directory in the only parent, if this commit renamed it without changes. */
const placeBefore = async (
  git: GitReader,
  { commit, tree }: Place,
  [parent, ...more]: Place[],
): Promise<Place | undefined> => {
  const isNew = tree !== undefined && parent?.tree === undefined;
  if (parent === undefined || more.length > 0 || !isNew) return undefined;
  const cases = [...git.prefix, 'cases'];
  for await (const path of pathsOf(git, { root: parent.commit.tree, folder: cases, tree })) {
    const left = (await git.treeAt(commit.tree, path)) === undefined;
    if (left) return { ...parent, path, tree };
  }
  return undefined;
};

const MAX_TREES = 200;

interface Search {
  root: string;
  folder: readonly string[];
  tree: string;
}

/** The paths below a folder with this very tree, breadth first, in at most 200 directories. */
const pathsOf = async function* (git: GitReader, { root, folder, tree }: Search) {
  const queue = [folder];
  for (let read = 0; read < MAX_TREES; read += 1) {
    const path = queue.shift();
    const at = path === undefined ? undefined : await git.treeAt(root, path);
    if (path === undefined || at === undefined) return;
    const below = (await git.entries(at)).filter(({ isTree }) => isTree);
    for (const { name } of below.filter(({ oid }) => oid === tree)) yield [...path, name];
    queue.push(...below.map(({ name }) => [...path, name]));
  }
};

export type FileChange = HistoryEntry['files'][number];

/** The files that a commit changed in a directory; in a merge, those that differ from every parent. */
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

/** The files that differ between two trees, by relative path. Equal subtrees are not read. */
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
