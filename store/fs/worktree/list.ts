import { type Dirent, readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { modifiedAt } from '../../base/modified-at.ts';
import { statsAt } from '../plain-path.ts';
import { inFolder, pathIn, type Tree, type TreeFolder } from './folder.ts';
import { isGitName, isPlainName, namesOfFolder } from './path.ts';

export interface TreeEntry {
  name: string;
  path: string;
  kind: 'file' | 'directory' | 'link' | 'other';
  /** In bytes; null unless it is a file. */
  size: number | null;
  modified_at: string;
}

interface TreePage {
  entries: TreeEntry[];
  /** Whether more entries follow. */
  more: boolean;
}

/** Entries per step; between steps the event loop runs. */
const AT_ONCE = 200;

/** Lists a directory by name, after the name `after`; undefined if it does not exist. `.git` is left out. */
export const listTreeFolder = (
  tree: Tree,
  path: string,
  { limit, after = '' }: { limit: number; after?: string | undefined },
): Promise<TreePage | undefined> =>
  inFolder(tree, namesOfFolder(path), async (folder) => {
    const names = readdirSync(folder.self, { withFileTypes: true })
      .filter(({ name }) => name > after && !isGitName(name))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const entries: TreeEntry[] = [];
    for (let at = 0; at < Math.min(limit, names.length); at += AT_ONCE) {
      const some = names.slice(at, Math.min(at + AT_ONCE, limit));
      entries.push(...some.flatMap((each) => entryOf(folder, each)));
      await nextTurn();
    }
    return { entries, more: names.length > limit };
  });

// Empty if the entry was removed meanwhile.
const entryOf = (folder: TreeFolder, { name }: Dirent): TreeEntry[] => {
  const stats = statsAt(folder.at(name));
  // A name that is not valid UTF-8, or not allowed in a path, is listed but cannot be requested.
  const isReachable = stats !== undefined && isPlainName(name);
  if (stats === undefined && !name.includes('\ufffd')) return [];
  return [
    {
      name,
      path: pathIn(folder, name),
      kind: isReachable ? kindOf(stats) : 'other',
      size: stats?.isFile() ? stats.size : null,
      modified_at: new Date(stats === undefined ? 0 : modifiedAt(stats)).toISOString(),
    },
  ];
};

const kindOf = (stats: NonNullable<ReturnType<typeof statsAt>>): TreeEntry['kind'] => {
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isDirectory()) return 'directory';
  return stats.isFile() ? 'file' : 'other';
};
