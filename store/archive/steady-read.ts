import { constants, fstatSync, openSync, type Stats } from 'node:fs';
import { codeOf, hasCode } from '../base/attempt.ts';
import { modifiedAt } from '../base/modified-at.ts';
import { whileOpen } from '../base/open-file.ts';
import { RACY_MS, signatureOf } from '../front-matter/entry.ts';
import { statsAt } from '../fs/plain-path.ts';
import { repeat } from '../fs/retry.ts';
import type { Shelf, Shelved } from './export-shelf.ts';

/** A consistent copy of a file. */
export interface SteadyFile extends Shelved {
  mode: number;
  date: Date;
}

/** Why a file could not be read; `gone` if it no longer exists. */
interface RefusedRead {
  reason: string;
  gone?: true;
}

/**
 * Reads a file in a state that did not change during the read, while other programs may write it. A file that only grows is
 * read up to its size at the start. Follows no link. Throws only errors that do not concern this file, such as a full disk.
 */
export const readSteady = async (path: string, shelf: Shelf): Promise<SteadyFile | RefusedRead> =>
  (await repeat(async (isLast) => attempt(path, shelf, isLast), RACY_MS)) ?? {
    reason: 'it kept changing',
  };

const attempt = (
  path: string,
  shelf: Shelf,
  isLast: boolean,
): SteadyFile | RefusedRead | undefined => {
  try {
    return readOnce(path, shelf, isLast);
  } catch (error) {
    return refusal(error);
  }
};

// Opening a pipe must not block.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const readOnce = (
  path: string,
  shelf: Shelf,
  isLast: boolean,
): SteadyFile | RefusedRead | undefined =>
  whileOpen(openSync(path, FLAGS), (fd) => {
    const before = fstatSync(fd);
    if (!before.isFile()) return { reason: 'it is not a regular file' };
    if (!isLast && isYoung(before)) return undefined;
    const read = shelf.put(fd, before.size);
    if (read === undefined) return undefined;
    const heldStill = isSteady(before, statsAt(path), { fd, shelf, read, isLast });
    return heldStill
      ? { ...read, mode: before.mode, date: new Date(modifiedAt(before)) }
      : undefined;
  });

// A save may be in progress. ctime cannot be set by programs.
const isYoung = ({ ctimeMs }: Stats): boolean => Math.abs(Date.now() - ctimeMs) < RACY_MS;

const isSteady = (
  before: Stats,
  now: Stats | undefined,
  { fd, shelf, read, isLast }: { fd: number; shelf: Shelf; read: Shelved; isLast: boolean },
): boolean => {
  if (now !== undefined && signatureOf(now) === signatureOf(before)) return true;
  const hasGrown = now?.ino === before.ino && now.size > before.size;
  if (hasGrown) return (isLast || !Buffer.isBuffer(read.content)) && shelf.isStartOf(fd, read);
  // Replaced after the read: the old file was read, if it was not written since.
  const old = fstatSync(fd);
  return isLast && now?.ino !== before.ino && isUntouched(before, old);
};

const isUntouched = (before: Stats, after: Stats): boolean =>
  before.size === after.size && before.mtimeMs === after.mtimeMs;

const refusal = (error: unknown): RefusedRead => {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { reason: 'it is gone', gone: true };
  if (hasCode(error, 'ELOOP')) return { reason: IS_LINK };
  if (hasCode(error, 'EACCES', 'EPERM')) return { reason: NO_PERMISSION };
  const { syscall } = error as NodeJS.ErrnoException;
  const isOfThisFile = syscall === 'open' || syscall === 'read';
  if (!isOfThisFile || hasCode(error, 'EMFILE', 'ENFILE', 'ENOMEM')) throw error;
  return { reason: `it cannot be read (${codeOf(error)})` };
};

export const IS_LINK = 'it is a symbolic link';
export const NO_PERMISSION = 'the daemon has no permission to read it';
