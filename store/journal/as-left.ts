import { fstatSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { listDirectory } from '../front-matter/folder.ts';
import { statsAt } from '../fs/plain-path.ts';
import { isInPlace, isJournalName, type OpenSegment } from './journal-segment.ts';

/**
 * Whether nobody else wrote the journal since this process last did: the file that it appends to is the newest one, and ends
 * as it was left. One that was removed is as it was left, for it is made again.
 */
export const isAsLeft = (segment: OpenSegment): boolean => {
  const name = basename(segment.path);
  if (listDirectory(dirname(segment.path)).some((other) => isLater(other, name))) return false;
  if (statsAt(segment.path) === undefined) return true;
  return isInPlace(segment) && isEmptyFrom(segment);
};

const isLater = (other: string, name: string): boolean => isJournalName(other) && other > name;

const CHUNK = 65_536;

// What it is filled with ahead of time is zeros.
const isEmptyFrom = ({ handle: { fd }, end, spoiled = 0 }: OpenSegment): boolean => {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(CHUNK);
  for (let at = Math.max(end, spoiled); at < size; at += CHUNK)
    if (bytes.subarray(0, readSync(fd, bytes, 0, CHUNK, at)).some((byte) => byte !== 0))
      return false;
  return size >= end;
};
