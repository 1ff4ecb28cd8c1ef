import { renameSync, rmdirSync, type Stats } from 'node:fs';
import { orElse } from '../../base/or-else.ts';
import { hasCode } from '../disk/durable.ts';
import { putClaimed } from '../disk/placing.ts';
import { statsAt } from '../disk/plain-path.ts';
import { StoreError } from '../errors.ts';
import { LINK, makeFolder, pathIn, syncFolder, type Tree, type TreeFolder } from './folder.ts';
import { assertNewName, pathNames } from './path.ts';
import { inParent } from './write.ts';

export type Moved = 'moved' | 'absent' | 'exists';

/** Gives a file or a directory another name, and never one that something has. What is missing on the way is made. */
export const moveInTree = async (tree: Tree, from: string, to: string): Promise<Moved> => {
  refuseInto(from, to);
  const moved = await inParent(tree, from, (old, name) => {
    const stats = statsAt(old.at(name));
    if (stats === undefined) return 'absent';
    refuseKind({ folder: old, name }, stats);
    const into = async (folder: TreeFolder, newName: string): Promise<Moved> => {
      assertNewName(newName);
      const places = { from: { folder: old, name }, to: { folder, name: newName } };
      if (!put(places, stats)) return 'exists';
      await syncFolder(folder);
      await syncFolder(old);
      return 'moved';
    };
    return inParent(tree, to, into, { make: true });
  });
  return moved ?? 'absent';
};

interface Place {
  folder: TreeFolder;
  name: string;
}

const refuseInto = (from: string, to: string): void => {
  const [old, wanted] = [pathNames(from), pathNames(to)];
  if (!old.every((name, at) => wanted[at] === name)) return;
  const what = old.length === wanted.length ? 'is its name already' : 'lies in it';
  throw new StoreError('unsafe_path', `${from} cannot be renamed to ${to}, which ${what}`);
};

const refuseKind = ({ folder, name }: Place, stats: Stats): void => {
  const path = pathIn(folder, name);
  if (stats.isSymbolicLink()) throw new StoreError('unsafe_path', `${path} ${LINK}`);
  if (!stats.isFile() && !stats.isDirectory())
    throw new StoreError('unsafe_path', `${path} is neither a file nor a directory`);
  if (!stats.isDirectory() || statsAt(`${folder.at(name)}/.git`) === undefined) return;
  const message = `${path} is a repository of its own, which git finds by its place. Move it with git mv`;
  throw new StoreError('unsafe_path', message);
};

const put = ({ from, to }: { from: Place; to: Place }, stats: Stats): boolean => {
  from.folder.assertInPlace();
  to.folder.assertInPlace();
  const [old, wanted] = [from.folder.at(from.name), to.folder.at(to.name)];
  if (isOnlyRespelled(stats, statsAt(wanted))) {
    renameSync(old, wanted);
    return true;
  }
  return stats.isDirectory() ? putFolder(old, to, wanted) : putClaimed(old, wanted);
};

// A file system that knows no case has it there already, under this very name.
const isOnlyRespelled = (stats: Stats, there: Stats | undefined): boolean =>
  there?.ino === stats.ino && there.dev === stats.dev && (stats.isDirectory() || stats.nlink === 1);

// A directory takes the place of an empty one, and of nothing else: that claims the name.
const putFolder = (old: string, to: Place, wanted: string): boolean => {
  if (!makeFolder(to.folder, to.name)) return false;
  try {
    renameSync(old, wanted);
    return true;
  } catch (error) {
    // Empty, or somebody has begun to use it: then it stays.
    orElse(() => rmdirSync(wanted), undefined);
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return false;
    throw error;
  }
};
