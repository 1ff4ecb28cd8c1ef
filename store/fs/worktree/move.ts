import { renameSync, rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { hasCode, isDone, orElse } from '../../base/attempt.ts';
import { StoreError } from '../../base/errors.ts';
import { recordIfUncertain } from '../../base/write-stage.ts';
import { linkNew, placeClaimed } from '../place.ts';
import { isSameFile, statsAt } from '../plain-path.ts';
import {
  inParent,
  LINK,
  makeFolder,
  pathIn,
  syncFolder,
  type Tree,
  type TreeFolder,
} from './folder.ts';
import { endLink, whileLinked } from './hard-links.ts';
import { assertNewName, pathNames } from './path.ts';

export type Moved = 'moved' | 'absent' | 'exists';

interface Move {
  from: string;
  to: string;
}

/**
 * Renames a file or directory to a free name, and creates missing parents. `note` is called before the first step that a
 * power cut could leave half done; `endMove` then completes the move.
 */
export const moveInTree = async (
  tree: Tree,
  { from, to }: Move,
  note: () => Promise<void>,
): Promise<Moved> => {
  refuseInto(from, to);
  const moved = await inParent(tree, from, (old, name) => {
    const stats = statsAt(old.at(name));
    if (stats === undefined) return 'absent';
    refuseKind({ folder: old, name }, stats);
    const into = async (folder: TreeFolder, newName: string): Promise<Moved> => {
      assertNewName(newName);
      const places = { from: { folder: old, name }, to: { folder, name: newName } };
      if (!(await put(places, stats, note))) return 'exists';
      await syncFolder(folder);
      await syncFolder(old);
      return 'moved';
    };
    return inParent(tree, to, into, { make: true });
  });
  return moved ?? 'absent';
};

/** Completes an interrupted move: a file keeps one of its two names, and a directory that only claimed a name is removed. */
export const endMove = async (tree: Tree, { from, to }: Move): Promise<void> => {
  await inParent(tree, from, (old, name) =>
    inParent(tree, to, (folder, newName) =>
      endBetween({ from: { folder: old, name }, to: { folder, name: newName } }),
    ),
  );
};

const endBetween = async ({ from, to }: Places): Promise<void> => {
  const [old, wanted] = [from.folder.at(from.name), to.folder.at(to.name)];
  const [former, there] = [statsAt(old), statsAt(wanted)];
  if (former === undefined || there === undefined) {
    if (there !== undefined) endLink(there);
    return;
  }
  if (former.isFile() && isSameFile(there, former) && there.nlink === 2)
    await whileLinked(former, async () => {
      await syncFolder(to.folder);
      unlinkSync(old);
      await syncFolder(from.folder);
    });
  // rmdir keeps a directory that is not empty.
  const isClaim = former.isDirectory() && there.isDirectory() && !isSameFile(there, former);
  if (isClaim && isDone(() => rmdirSync(wanted))) await syncFolder(to.folder);
};

const refuseInto = (from: string, to: string): void => {
  const [old, wanted] = [pathNames(from), pathNames(to)];
  if (!old.every((name, at) => wanted[at] === name)) return;
  const what = old.length === wanted.length ? 'is already its name' : 'is inside it';
  throw new StoreError(
    'unsafe_path',
    `${from} cannot be renamed to ${to}, which ${what}. Use another name`,
  );
};

const refuseKind = ({ folder, name }: Place, stats: Stats): void => {
  const path = pathIn(folder, name);
  if (stats.isSymbolicLink()) throw new StoreError('unsafe_path', `${path} ${LINK}`);
  if (!stats.isFile() && !stats.isDirectory())
    throw new StoreError('unsafe_path', `${path} is neither a file nor a directory`);
  if (!stats.isDirectory() || statsAt(`${folder.at(name)}/.git`) === undefined) return;
  const message = `${path} is a repository of its own, and git records its path. Move it with \`git mv\``;
  throw new StoreError('unsafe_path', message);
};

interface Place {
  folder: TreeFolder;
  name: string;
}

interface Places {
  from: Place;
  to: Place;
}

const put = async (
  { from, to }: Places,
  stats: Stats,
  note: () => Promise<void>,
): Promise<boolean> => {
  from.folder.assertInPlace();
  to.folder.assertInPlace();
  const [old, wanted] = [from.folder.at(from.name), to.folder.at(to.name)];
  if (isOnlyRespelled(stats, statsAt(wanted))) {
    recordIfUncertain(wanted, () => renameSync(old, wanted));
    return true;
  }
  if (statsAt(wanted) !== undefined) return false;
  if (stats.isDirectory() || stats.nlink === 1) await note();
  if (stats.isDirectory()) return putFolder(old, to, wanted);
  // With several hard links of the operator, `endMove` could not tell which one an interruption left.
  if (stats.nlink > 1) return placeClaimed(old, wanted);
  return putFile({ from, to }, stats);
};

// The file has both names for a moment, synced in this order, so that a power cut leaves at least one.
const putFile = async ({ from, to }: Places, stats: Stats): Promise<boolean> => {
  const [old, wanted] = [from.folder.at(from.name), to.folder.at(to.name)];
  const linked = linkNew(old, wanted);
  if (linked === 'exists') return false;
  if (linked === 'no links') return placeClaimed(old, wanted);
  return whileLinked(stats, async () => {
    await syncFolder(to.folder);
    from.folder.assertInPlace();
    // A file saved there meanwhile stays.
    if (isSameFile(statsAt(old), stats)) unlinkSync(old);
    return true;
  });
};

// On a case-insensitive file system, both names are the same file.
const isOnlyRespelled = (stats: Stats, there: Stats | undefined): boolean =>
  isSameFile(there, stats) && (stats.isDirectory() || stats.nlink === 1);

// An empty directory claims the name: rename replaces that, and nothing else.
const putFolder = (old: string, to: Place, wanted: string): boolean => {
  if (!makeFolder(to.folder, to.name)) return false;
  try {
    recordIfUncertain(wanted, () => renameSync(old, wanted));
    return true;
  } catch (error) {
    // Stays if it is in use by now.
    orElse(() => rmdirSync(wanted), undefined);
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return false;
    throw error;
  }
};
