import { constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { listDirectory } from '../front-matter/folder.ts';
import { makeSyncedDirectory, syncDirectory } from '../fs/synced.ts';
import { type Damage, encode, readJournalLines, type TellLine } from './journal-lines.ts';
import {
  closeSegment,
  isAsLeft,
  isInPlace,
  isJournalName,
  type OpenSegment,
  removeSegment,
  restoreSegment,
  type Segment,
  writeAll,
  writeFresh,
} from './journal-segment.ts';
import { noticeSuspension } from './suspension.ts';

/**
 * Append-only lines, each with its checksum, in a file whose end is filled with zeros ahead of time: an append
 * overwrites zeros, so it needs no new blocks, and a full disk is met before a record is written, not after.
 */
export interface JournalFile {
  /** Bytes that can be appended without asking the disk for more; none after an append that failed, until `reserve`. */
  readonly room: number;
  /** Makes room for `bytes` more. Like append, rotate and restore, one call at a time. */
  reserve(bytes: number): Promise<void>;
  /** Resolves when the lines are on disk; after a crash a line is there whole or not at all. */
  append(lines: string[]): Promise<void>;
  /** Goes on in a new file that begins with these lines; `after` is the newest event before it. The old file stays. */
  rotate(lines: Iterable<string>, after: number): Promise<void>;
  /** The files, oldest first: the last one is appended to. */
  readonly segments: readonly Segment[];
  /** Removes the oldest file. */
  dropOldest(): void;
  readonly bytes: number;
  /** False when somebody removed the file, or put another there: what is appended then is gone at the next start. */
  isInPlace(): boolean;
  /** False when another process wrote the journal meanwhile: nothing may be appended to it here any more. */
  isAsLeft(): boolean;
  /** Makes again, with all that was in them, the files that somebody removed. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

const ROOM = 262_144;
// The journal's own and `.dossier/`; the workspace that it is in is not made anew where it was.
const makeAgain = (dir: string): void => makeSyncedDirectory(dir, 0o700, dirname(dirname(dir)));

/** Reads every whole line of the newest file; a torn last line is left out, as it was never acknowledged. */
export const openJournalFile = async (
  dir: string,
  tell: TellLine = () => undefined,
): Promise<{ file: JournalFile; damaged: Damage[] }> => {
  const names = readdirSync(dir).filter(isJournalName).toSorted();
  const path = join(dir, names.pop() ?? fileName(1));
  const segments: Segment[] = [];
  for (const name of names) segments.push(lookAtOld(join(dir, name)));
  // First: what cannot be a journal is refused with its path.
  const handle = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    const { end, damaged } = readJournalLines(path, tell);
    await handle.truncate(end);
    await syncDirectory(dir);
    const newest = { path, handle, end, head: 0, after: 0, places: [] };
    return { file: journalFile(dir, segments, newest), damaged };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

const lookAtOld = (path: string): Segment => ({
  ...{ path, handle: undefined, end: statSync(path).size, head: 0, after: 0 },
  places: [],
});

const fileName = (number: number): string => `${String(number).padStart(8, '0')}.ndjson`;

/** A journal as it is on disk, for whoever only looks. */
export interface JournalLook {
  name: string;
  lines: string[];
  /** The numbers of whole lines that are damaged, from 1; the last ones, which can be cut off, are not among them. */
  damaged: number[];
  /** Where the last sound line ends, if there is more behind it; the line's number, from 1. */
  tail: { from: number; bytes: Buffer; line: number } | undefined;
}

/** Reads the newest file and changes nothing. Undefined when there is none. */
export const lookAtJournal = (dir: string): JournalLook | undefined => {
  const name = listDirectory(dir).filter(isJournalName).toSorted().at(-1);
  if (name === undefined) return undefined;
  const lines: string[] = [];
  const found = readJournalLines(join(dir, name), (json) => json && lines.push(json));
  const { sound, used } = found;
  const isTail = ({ at }: Damage): boolean => at >= sound;
  const damaged = found.damaged.filter((each) => !isTail(each)).map(({ line }) => line);
  const line = found.damaged.find(isTail)?.line ?? found.count + 1;
  const bytes = used > sound ? readFileSync(join(dir, name)).subarray(sound, used) : undefined;
  return { name, lines, damaged, tail: bytes && { from: sound, bytes, line } };
};

// Whatever the backlog: as many files are open.
const MOST_OPEN = 4;

const journalFile = (dir: string, old: readonly Segment[], newest: OpenSegment): JournalFile => {
  const segments = [...old, newest];
  let now = newest;
  let filled = now.end;
  const suspension = noticeSuspension(() => isAsLeft(now));

  const reserve = async (bytes: number): Promise<void> => {
    suspension.assertOurs();
    await wipe(now);
    if (filled - now.end >= bytes) return;
    filled += await fill(now, filled, bytes + ROOM);
  };

  return {
    get room() {
      return isSpoiled(now) ? 0 : filled - now.end;
    },
    reserve,
    append: async (lines) => {
      const bytes = encode(lines);
      await reserve(bytes.length);
      await add(now, bytes);
    },
    rotate: async (lines, after) => {
      suspension.assertOurs();
      makeAgain(dir);
      const path = join(dir, fileName(Number.parseInt(basename(now.path), 10) + 1));
      const fresh = await writeFresh(path, (handle) => writeChunks(handle, lines));
      // What it was filled with is of no use any more; left there, it does no harm.
      await now.handle.truncate(now.end).catch(() => undefined);
      now = { path, after, places: [], ...fresh, head: fresh.end };
      filled = now.end;
      segments.push(now);
      await closeSegments(segments.slice(0, -MOST_OPEN));
    },
    segments,
    dropOldest: () => segments.splice(0, 1).forEach(removeSegment),
    get bytes() {
      return now.end;
    },
    isInPlace: () => isInPlace(now),
    isAsLeft: () => isAsLeft(now),
    restore: async () => {
      makeAgain(dir);
      for (const segment of segments) await restoreSegment(segment);
      filled = now.end;
    },
    close: () => closeAll(segments, now).finally(suspension.close),
  };
};

const fill = async ({ handle }: OpenSegment, at: number, bytes: number): Promise<number> => {
  await writeAll(handle, Buffer.alloc(bytes), at);
  await handle.sync();
  return bytes;
};

const add = async (segment: OpenSegment, bytes: Buffer): Promise<void> => {
  segment.spoiled = segment.end + bytes.length;
  await writeThrough(segment, bytes);
  segment.end = segment.spoiled;
};

// Behind the end there may be what another process wrote.
const closeAll = async (segments: readonly Segment[], newest: OpenSegment): Promise<void> => {
  try {
    if (isAsLeft(newest)) await newest.handle.truncate(newest.end);
  } finally {
    await closeSegments(segments);
  }
};

const closeSegments = async (segments: readonly Segment[]): Promise<void> => {
  await Promise.all(segments.map(closeSegment));
};

// What was not acknowledged must not be there as if it were, behind what is appended next.
const wipe = async (segment: OpenSegment): Promise<void> => {
  const { spoiled = 0, end } = segment;
  if (isSpoiled(segment)) await writeThrough(segment, Buffer.alloc(spoiled - end));
  segment.spoiled = 0;
};

const isSpoiled = ({ spoiled = 0, end }: Segment): boolean => spoiled > end;

const writeThrough = async ({ handle, end }: OpenSegment, bytes: Buffer): Promise<void> => {
  await writeAll(handle, bytes, end);
  await handle.datasync();
};

const CHUNK = 200;

// In chunks with a wait between, so that a long journal never holds the event loop.
const writeChunks = async (handle: FileHandle, lines: Iterable<string>): Promise<number> => {
  let at = 0;
  let chunk: string[] = [];
  const flush = async () => {
    const bytes = encode(chunk);
    await writeAll(handle, bytes, at);
    at += bytes.length;
    chunk = [];
  };
  for (const line of lines) {
    chunk.push(line);
    if (chunk.length >= CHUNK) await flush();
  }
  await flush();
  return at;
};
