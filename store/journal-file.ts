import { constants, fstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { hasCode, syncDirectory } from './durable.ts';
import { listDirectory } from './folder.ts';
import { statsAt } from './plain-path.ts';

/**
 * Append-only lines, each with its checksum, in a file whose end is filled with zeros ahead of time: an append
 * overwrites zeros, so it needs no new blocks, and a full disk is met before a record is written, not after.
 */
export interface JournalFile {
  /** Bytes that can be appended without asking the disk for more. */
  readonly room: number;
  /** Makes room for `bytes` more. Like append and rewrite, one call at a time. */
  reserve(bytes: number): Promise<void>;
  /** Resolves when the lines are on disk; after a crash a line is there whole or not at all. */
  append(lines: string[]): Promise<void>;
  /** Replaces everything by these lines, in a new file. */
  rewrite(lines: Iterable<string>): Promise<void>;
  readonly bytes: number;
  /** False when somebody removed the file, or put another there: what is appended then is gone at the next start. */
  isInPlace(): boolean;
  close(): Promise<void>;
}

const ROOM = 262_144;
const NAME = /^\d{8}\.ndjson$/;

/** Reads every whole line of the newest file; a torn last line is left out, as it was never acknowledged. */
export const openJournalFile = async (
  dir: string,
): Promise<{ file: JournalFile; lines: string[]; damaged: number }> => {
  const names = readdirSync(dir).filter(isJournalName).toSorted();
  for (const old of names.slice(0, -1)) rmSync(join(dir, old));
  const name = names.at(-1) ?? fileName(1);
  const { lines, end, bad } = readLines(join(dir, name));
  const handle = await open(join(dir, name), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  await handle.truncate(end);
  await syncDirectory(dir);
  return { file: journalFile(dir, name, handle, end), lines, damaged: bad.length };
};

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

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
  const { lines, sound, used, bad } = readLines(join(dir, name));
  const damaged = bad.filter(({ at }) => at < sound).map(({ line }) => line);
  const line = lines.length + damaged.length + 1;
  const bytes = used.subarray(sound);
  return {
    name,
    lines,
    damaged,
    tail: bytes.length === 0 ? undefined : { from: sound, bytes, line },
  };
};

const isJournalName = (name: string): boolean => NAME.test(name);

interface Lines {
  lines: string[];
  /** Where the last whole line ends. */
  end: number;
  /** Where the last sound line ends. */
  sound: number;
  bad: { line: number; at: number }[];
  /** All up to the zeros that the file is filled with. */
  used: Buffer;
}

const readLines = (path: string): Lines => {
  const bytes = readOrEmpty(path);
  const zeros = bytes.indexOf(0);
  const used = zeros < 0 ? bytes.length : zeros;
  const lines: string[] = [];
  const bad: Lines['bad'] = [];
  let end = 0;
  let sound = 0;
  for (let from = 0; from < used; ) {
    const stop = bytes.indexOf(10, from);
    if (stop < 0 || stop >= used) break;
    const line = checked(bytes.subarray(from, stop));
    end = stop + 1;
    if (line === undefined) bad.push({ line: lines.length + bad.length + 1, at: from });
    else {
      lines.push(line);
      sound = end;
    }
    from = end;
  }
  return { lines, end, sound, bad, used: bytes.subarray(0, used) };
};

const readOrEmpty = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0);
    throw error;
  }
};

const checked = (line: Buffer): string | undefined => {
  const json = line.subarray(9);
  return line.toString('latin1', 0, 8) === checksum(json) ? json.toString('utf8') : undefined;
};

const checksum = (json: string | Buffer): string => crc32(json).toString(16).padStart(8, '0');

const encode = (lines: Iterable<string>): Buffer => {
  const parts: string[] = [];
  for (const line of lines) parts.push(checksum(line), ' ', line, '\n');
  return Buffer.from(parts.join(''));
};

const journalFile = (
  dir: string,
  firstName: string,
  first: FileHandle,
  firstEnd: number,
): JournalFile => {
  let name = firstName;
  let handle = first;
  let end = firstEnd;
  let filled = firstEnd;

  const reserve = async (bytes: number): Promise<void> => {
    if (filled - end >= bytes) return;
    const room = bytes + ROOM;
    await writeAll(handle, Buffer.alloc(room), filled);
    await handle.sync();
    filled += room;
  };

  return {
    get room() {
      return filled - end;
    },
    reserve,
    append: async (lines) => {
      const bytes = encode(lines);
      // With a zero behind them: what an append that failed left there is never read.
      await reserve(bytes.length + 1);
      await writeAll(handle, Buffer.concat([bytes, ZERO]), end);
      await handle.datasync();
      end += bytes.length;
    },
    rewrite: async (lines) => {
      const next = fileName(Number.parseInt(name, 10) + 1);
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      const temporary = join(dir, `${next}.tmp`);
      const { fresh, bytes } = await writeFresh(temporary, lines);
      await moveDurably(fresh, temporary, join(dir, next));
      const old = { name, handle };
      [name, handle, end, filled] = [next, fresh, bytes, bytes];
      await old.handle.close();
      rmSync(join(dir, old.name), { force: true });
    },
    get bytes() {
      return end;
    },
    isInPlace: () => statsAt(join(dir, name))?.ino === fstatSync(handle.fd).ino,
    close: async () => {
      await handle.truncate(end);
      await handle.close();
    },
  };
};

const ZERO = Buffer.alloc(1);

// The system may write less than it was given: where the disk is nearly full it does, and says so only at the next try.
const writeAll = async (handle: FileHandle, bytes: Buffer, position: number): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
};

// The newest file is the one that counts: one that is not used must not stay.
const moveDurably = async (fresh: FileHandle, from: string, to: string): Promise<void> => {
  try {
    await rename(from, to);
    await syncDirectory(dirname(to));
  } catch (error) {
    for (const path of [from, to]) rmSync(path, { force: true });
    await fresh.close();
    throw error;
  }
};

const writeFresh = async (
  path: string,
  lines: Iterable<string>,
): Promise<{ fresh: FileHandle; bytes: number }> => {
  const fresh = await open(path, 'w+', 0o600);
  try {
    const bytes = await writeChunks(fresh, lines);
    await fresh.sync();
    return { fresh, bytes };
  } catch (error) {
    await fresh.close();
    rmSync(path, { force: true });
    throw error;
  }
};

const CHUNK = 200;

// In chunks with a wait between, so that rewriting a large journal never holds the event loop.
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
