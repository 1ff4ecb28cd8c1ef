import { constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { whileOpen } from '../base/open-file.ts';
import { encode, lineIn } from './journal-lines.ts';

/** How far the events of a journal were sent. */
export interface Noted {
  /** Identifies the journal; a new journal gets a new epoch. */
  epoch: string;
  /** The number of the newest event that was sent. */
  last: number;
  /** An upper bound of all numbers ever sent, even if a power cut lost the newest `last`. */
  reserved: number;
}

const RESERVED = 1000;

/**
 * Opens the mark file, and creates it if missing. Throws errors of the disk. It says how far events were sent, outside of the
 * workspace, and detects a journal that is older than that: one that was cut or restored from a backup. Written after an event
 * is in the journal and before it is sent. It survives a crash of the daemon; after a power cut `last` may be some seconds old.
 */
export const openMark = (path: string) => {
  const found = readMark(path);
  const descriptor = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  let noted = found;
  const write = (now: Noted): void => {
    noted = now;
    const bytes = encode([JSON.stringify(now).padEnd(LENGTH)]);
    writeSync(descriptor, bytes, 0, bytes.length, 0);
  };
  return {
    /** The mark of an earlier process; undefined if there is none that can be read. */
    found,
    /** Writes a mark; on disk when it returns. */
    begin: (now: Noted): void => {
      write(now);
      fsyncSync(descriptor);
    },
    /** Records that this event is sent next. */
    note: (last: number): void => {
      if (noted === undefined || last <= noted.last) return;
      const isReserved = last <= noted.reserved;
      write({ ...noted, last, ...(!isReserved && { reserved: last + RESERVED }) });
      if (!isReserved) fsyncSync(descriptor);
    },
    close: (): void => whileOpen(descriptor, fsyncSync),
  };
};
export type JournalMark = ReturnType<typeof openMark>;

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

// A fixed length, so that a write covers all of the previous one.
const LENGTH = 128;

/** Reads a mark file; undefined if there is none or it is damaged. */
export const readMark = (path: string): Noted | undefined => {
  try {
    const bytes = readFileSync(path);
    const { json = '{}' } = lineIn(bytes.subarray(0, bytes.indexOf(10)));
    const { epoch, last, reserved } = JSON.parse(json) as Partial<Noted>;
    if (epoch === undefined || last === undefined || reserved === undefined) return undefined;
    return { epoch, last, reserved };
  } catch {
    return undefined;
  }
};

/** The end of a journal: its newest event. Journals of older releases have no epoch. */
export interface JournalEnd {
  epoch?: string | undefined;
  last: number;
}

/** Whether a journal is older than the events already sent, or another journal. */
export const isOlder = ({ epoch, last }: JournalEnd, noted: Noted | undefined): boolean =>
  noted !== undefined && (last < noted.last || (epoch !== undefined && epoch !== noted.epoch));
