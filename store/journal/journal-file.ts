import { constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { listDirectory } from '../front-matter/folder.ts';
import { makeSyncedDirectory, syncDirectory } from '../fs/synced.ts';
import { type Damage, encode, type LineHandler, readJournalLines } from './journal-lines.ts';
import {
  closeSegment,
  isInPlace,
  isJournalName,
  isUnmodified,
  type OpenSegment,
  removeSegment,
  restoreSegment,
  type Segment,
  writeAll,
  writeFresh,
} from './journal-segment.ts';
import { detectSuspension } from './suspension.ts';

const ROOM = 262_144;
// Creates the journal directory and `.dossier/`, but never the workspace, which may have been moved.
const recreate = (dir: string): void => makeSyncedDirectory(dir, 0o700, dirname(dirname(dir)));

/**
 * Throws `read_only` if another process has the workspace. Called before removed files are written again; `replaced`: other
 * files are in their place.
 */
export type AssertHeld = (replaced: boolean) => void;

/** Opens the journal and reads every whole line of its newest file. An incomplete last line was never acknowledged, and is cut. */
export const openJournalFile = async (
  dir: string,
  tell: LineHandler = () => undefined,
  assertHeld: AssertHeld = () => undefined,
): Promise<{ file: JournalFile; damaged: Damage[] }> => {
  const names = readdirSync(dir).filter(isJournalName).toSorted();
  const path = join(dir, names.pop() ?? fileName(1));
  const segments: Segment[] = [];
  for (const name of names) segments.push(oldSegment(join(dir, name)));
  // Opened first, so that an error has the path.
  const handle = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    const { end, damaged } = readJournalLines(path, tell);
    await handle.truncate(end);
    await syncDirectory(dir);
    const newest = { path, handle, end, head: 0, after: 0, places: [] };
    return { file: journalFile(dir, [...segments, newest], newest, assertHeld), damaged };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

const oldSegment = (path: string): Segment => ({
  path,
  handle: undefined,
  end: statSync(path).size,
  head: 0,
  after: 0,
  places: [],
});

const fileName = (number: number): string => `${String(number).padStart(8, '0')}.ndjson`;

/** The newest file of a journal, read only. */
export interface JournalSnapshot {
  name: string;
  lines: string[];
  /** The numbers of damaged lines, from 1, without those at the end, which can be cut off. */
  damaged: number[];
  /** The damaged end of the file, if any: its offset, bytes and line number, from 1. */
  tail: { from: number; bytes: Buffer; line: number } | undefined;
}

/** Reads the newest file without changing it; undefined if there is none. */
export const readNewestJournal = (dir: string): JournalSnapshot | undefined => {
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

// The greatest number of open files, however long the backlog.
const MOST_OPEN = 4;

/**
 * Append-only lines with checksums, in a file whose end is filled with zeros ahead of time. An append overwrites zeros and
 * needs no new blocks, so that a full disk is reported before a record is written, not after.
 */
const journalFile = (
  dir: string,
  segments: Segment[],
  newest: OpenSegment,
  assertHeld: AssertHeld,
) => {
  let now = newest;
  let filled = now.end;
  const suspension = detectSuspension(() => isUnmodified(now));

  const reserve = async (bytes: number): Promise<void> => {
    suspension.assertOurs();
    await wipe(now);
    if (filled - now.end >= bytes) return;
    filled += await fill(now, filled, bytes + ROOM);
  };

  return {
    /** Bytes that can be appended without new blocks; 0 after a failed append, until `reserve`. */
    get room() {
      return isSpoiled(now) ? 0 : filled - now.end;
    },
    /** Reserves room for `bytes` more. Like append, rotate and restore: one call at a time. */
    reserve,
    /** Resolves when the lines are on disk. After a crash, a line is there as a whole or not at all. */
    append: async (lines: string[]): Promise<void> => {
      const bytes = encode(lines);
      await reserve(bytes.length);
      await add(now, bytes);
    },
    /** Starts a new file with these lines; `after` is the newest event before it. The old file stays. */
    rotate: async (lines: Iterable<string>, after: number): Promise<void> => {
      suspension.assertOurs();
      recreate(dir);
      const path = join(dir, fileName(Number.parseInt(basename(now.path), 10) + 1));
      const fresh = await writeFresh(path, (handle) => writeChunks(handle, lines));
      // Zeros that stay after a failure do no harm.
      await now.handle.truncate(now.end).catch(() => undefined);
      now = { path, after, places: [], ...fresh, head: fresh.end };
      filled = now.end;
      segments.push(now);
      await closeSegments(segments.slice(0, -MOST_OPEN));
    },
    /** The files, oldest first. The last one is appended to. */
    segments: segments as readonly Segment[],
    /** Removes the oldest file. */
    dropOldest: (): void => segments.splice(0, 1).forEach(removeSegment),
    get bytes() {
      return now.end;
    },
    /** False if the file was removed or replaced, so that appended lines would be lost. */
    isInPlace: (): boolean => isInPlace(now),
    /** False if another process wrote the journal meanwhile: this process must not append to it any more. */
    isUnmodified: (): boolean => isUnmodified(now),
    /** Writes removed files again, with their whole content. */
    restore: async (): Promise<void> => {
      recreate(dir);
      assertHeld(!isUnmodified(now));
      for (const segment of segments) await restoreSegment(segment);
      filled = now.end;
    },
    close: (): Promise<void> => closeAll(segments, now).finally(suspension.close),
  };
};
export type JournalFile = ReturnType<typeof journalFile>;

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

// Another process may have written after the end.
const closeAll = async (segments: readonly Segment[], newest: OpenSegment): Promise<void> => {
  try {
    if (isUnmodified(newest)) await newest.handle.truncate(newest.end);
  } finally {
    await closeSegments(segments);
  }
};

const closeSegments = async (segments: readonly Segment[]): Promise<void> => {
  await Promise.all(segments.map(closeSegment));
};

// Bytes of a failed append must not follow the next line as if they were valid.
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

// In chunks, so that a long journal does not block the event loop.
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
