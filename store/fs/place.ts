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
  type Stats,
  unlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { codeOf, isDone, orElse } from '../base/attempt.ts';
import { recordingChange } from '../base/write-stage.ts';
import type { Layout } from '../layout.ts';
import { isDirectoryItself } from './plain-path.ts';
import { unlinkIfThere } from './remove.ts';
import { makeSyncedDirectory } from './synced.ts';

/**
 * The steps of a durable write that differ by file system. All are synchronous, so that an editor has microseconds to
 * save between two of them.
 */

/**
 * Puts a finished file at a free name; false if the name is taken. One of several concurrent callers wins, across
 * processes. Without hard links (exFAT, many network mounts) an empty file claims the name first; a crash at that moment
 * leaves it.
 */
export const placeNew = (ready: string, target: string): boolean => {
  const linked = linkNew(ready, target);
  return linked === 'no links' ? placeClaimed(ready, target) : linked === 'linked';
};

/** Hard-links a file to a free name. */
export const linkNew = (file: string, target: string): 'linked' | 'exists' | 'no links' => {
  try {
    recordingChange(target, () => linkSync(file, target));
    return 'linked';
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return 'exists';
    if (!NO_LINKS.has(codeOf(error))) throw error;
    return 'no links';
  }
};

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Moves a file to a free name, which an empty file claims first; false if the name is taken. */
export const placeClaimed = (ready: string, target: string): boolean => {
  const claim = claimAt(target);
  if (claim === undefined) return false;
  try {
    // Another process replaced the claim or wrote into it.
    if (!isStill(target, claim)) return false;
    recordingChange(target, () => renameSync(ready, target));
    return true;
  } catch (error) {
    if (isStill(target, claim)) unlinkIfThere(target);
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
 * Keeps the old file in `.dossier/undo` while `replace` runs, and permanently if it returns true. The file is kept as a
 * hard link, which also receives concurrent writes of an editor, or else as a copy. False if the copy does not have the
 * `expected` bytes, because the file was saved meanwhile.
 */
export const withUndoCopy = (
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

// The last name of a file stays: a failed rename may have taken effect.
const dropLink = (kept: string): void => {
  if (orElse(() => lstatSync(kept).nlink > 1, false)) orElse(() => unlinkSync(kept), undefined);
};

/** Moves a file to `.dossier/undo`. */
export const moveToUndo = (layout: Layout, target: string): void => {
  const kept = undoPlace(layout, target);
  recordingChange(target, () => moveOrCopy(target, kept));
};

const moveOrCopy = (target: string, kept: string): void => {
  try {
    renameSync(target, kept);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    copyFileSync(target, kept, constants.COPYFILE_EXCL);
    unlinkSync(target);
  }
};

/** Today's directory in `.dossier/undo`, created if missing. */
export const undoDay = (layout: Layout): string => {
  const day = join(layout.undo, new Date().toISOString().slice(0, 10));
  // Node's `recursive` reports ENOENT for a full or read-only disk.
  const isKnown = isDone(() => mkdirSync(day), 'EEXIST', 'ENOENT') || isDirectoryItself(day);
  if (!isKnown) makeSyncedDirectory(day, 0o777, layout.root);
  return day;
};

/** A new name in `.dossier/undo`. */
export const undoPlace = (layout: Layout, target: string): string => {
  const day = undoDay(layout);
  // Only the end of a long name, because names have a greatest length.
  const name = basename(target).slice(-LONGEST_KEPT);
  return join(day, `${Date.now()}-${randomUUID().slice(0, 8)}-${name}`);
};

/** Whether `undoPlace` created this name. */
export const isUndoName = (name: string): boolean => /^\d+-[0-9a-f]{8}-/.test(name);

// In UTF-16 units, which take three bytes at most.
const LONGEST_KEPT = 72;

/** Gives a replacement the mode and owner of the file it replaces. Only root can change an owner. */
export const keepOwner = (path: string, { mode, uid, gid }: Stats): void => {
  orElse(() => lchownSync(path, uid, gid), undefined, 'EPERM');
  try {
    chmodSync(path, mode & MODE);
  } catch (error) {
    // On a file system without modes, all files have the same.
    if ((lstatSync(path).mode & MODE) !== (mode & MODE)) throw error;
  }
};

const MODE = 0o7777;
