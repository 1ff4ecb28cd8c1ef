import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { basename, join } from 'node:path';
import { isDone, orElse } from '../base/attempt.ts';
import { placing } from '../base/write-stage.ts';
import type { Layout } from '../layout.ts';
import { makeSyncedDirectory } from './make-directory.ts';
import { isDirectoryItself } from './plain-path.ts';

/** The steps of a durable write that file systems differ in. None waits: an editor has microseconds between two of them. */

/**
 * Puts a file that is ready where nothing may be; false when something is. Of several that try, also of other
 * processes, one wins. Where there are no hard links (exFAT, many network mounts) the place is claimed by an empty file
 * first: a crash in these microseconds leaves that.
 */
export const putNew = (ready: string, target: string): boolean => {
  const linked = linkNew(ready, target);
  return linked === 'no links' ? putClaimed(ready, target) : linked === 'linked';
};

/** Gives a file a name more, where nothing may be. */
export const linkNew = (file: string, target: string): 'linked' | 'exists' | 'no links' => {
  try {
    placing(target, () => linkSync(file, target));
    return 'linked';
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return 'exists';
    if (!NO_LINKS.has(codeOf(error))) throw error;
    return 'no links';
  }
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Moves what is at `ready` to where nothing may be; false when something is. The place is claimed by an empty file first. */
export const putClaimed = (ready: string, target: string): boolean => {
  const claim = claimAt(target);
  if (claim === undefined) return false;
  try {
    // Somebody has put another file here, or written into this one: it is theirs.
    if (!isStill(target, claim)) return false;
    placing(target, () => renameSync(ready, target));
    return true;
  } catch (error) {
    if (isStill(target, claim)) rmSync(target, { force: true });
    throw error;
  }
};

const claimAt = (target: string): Stats | undefined => {
  const file = orElse(() => openSync(target, 'wx'), undefined, 'EEXIST');
  if (file === undefined) return undefined;
  const stats = fstatSync(file);
  closeSync(file);
  return stats;
};

const isStill = (target: string, { ino }: Stats): boolean => {
  const now = lstatSync(target, { throwIfNoEntry: false });
  return now?.ino === ino && now.size === 0;
};

/**
 * Keeps a file for as long as it takes to replace it, and for good once `replace` returns true. It is kept as a link,
 * which also gets what an editor writes into it meanwhile; where there can be none, as a copy. False also when the copy
 * is not what is `expected`: somebody has just saved.
 */
export const keptForUndo = (
  layout: Layout,
  { target, expected }: { target: string; expected: Buffer },
  replace: () => boolean,
): boolean => {
  const kept = undoPlace(layout, target);
  let isReplaced = false;
  try {
    isReplaced = keep(target, kept, expected) && replace();
    return isReplaced;
  } finally {
    if (!isReplaced) dropLink(kept);
  }
};

const keep = (target: string, kept: string, expected: Buffer): boolean => {
  try {
    linkSync(target, kept);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EXDEV' && !NO_LINKS.has(codeOf(error))) throw error;
  }
  copyFileSync(target, kept, constants.COPYFILE_EXCL);
  return readFileSync(kept).equals(expected);
};

// One that has no other name stays: a rename that fails may have been done.
const dropLink = (kept: string): void => {
  if (orElse(() => lstatSync(kept).nlink > 1, false)) orElse(() => rmSync(kept), undefined);
};

/** Takes a file away for good, into `.dossier/undo`. */
export const moveToUndo = (layout: Layout, target: string): void => {
  const kept = undoPlace(layout, target);
  placing(target, () => moveOrCopy(target, kept));
};

const moveOrCopy = (target: string, kept: string): void => {
  try {
    renameSync(target, kept);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    copyFileSync(target, kept, constants.COPYFILE_EXCL);
    rmSync(target);
  }
};

/** The folder of today in `.dossier/undo`, made where it is not there. */
export const undoDay = (layout: Layout): string => {
  const day = join(layout.undo, new Date().toISOString().slice(0, 10));
  // Node's own way up answers ENOENT for a disk that is full or read-only.
  const isKnown = isDone(() => mkdirSync(day), 'EEXIST', 'ENOENT') || isDirectoryItself(day);
  if (!isKnown) makeSyncedDirectory(day, 0o777, layout.root);
  return day;
};

/** A new name in `.dossier/undo`. */
export const undoPlace = (layout: Layout, target: string): string => {
  const day = undoDay(layout);
  // The end of a long name: with all of it, it would be longer than names can be.
  const name = basename(target).slice(-LONGEST_KEPT);
  return join(day, `${Date.now()}-${randomUUID().slice(0, 8)}-${name}`);
};

/** Whether a name in a day of `.dossier/undo` is one that `undoPlace` returns. */
export const isUndoName = (name: string): boolean => /^\d+-[0-9a-f]{8}-/.test(name);

// In UTF-16, of which each takes three bytes at most.
const LONGEST_KEPT = 72;

/** Who may read a file is the operator's choice, also of one that is replaced. Only root can give a file away. */
export const keepOwner = (path: string, { mode, uid, gid }: Stats): void => {
  orElse(() => lchownSync(path, uid, gid), undefined, 'EPERM');
  try {
    chmodSync(path, mode & MODE);
  } catch (error) {
    // A file system without modes gives all files the same.
    if ((lstatSync(path).mode & MODE) !== (mode & MODE)) throw error;
  }
};

const MODE = 0o7777;
