import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { encode, lineIn } from './journal-lines.ts';

/** How far a journal was told. */
export interface Noted {
  /** Of which journal: it has another one from where it began anew. */
  epoch: string;
  /** The number of the newest event that anybody may have heard of. */
  last: number;
  /** No event was ever told with a greater number, also where a power cut took the newest `last`. */
  reserved: number;
}

/**
 * How far the journal was told, kept outside of the workspace: by it a journal is known that is older than what was told,
 * one that was cut, or came from a backup. Written before an event is told and after it is in the journal, so that it is
 * never ahead of that. It survives the death of the daemon; after a power cut `last` may be some seconds old.
 */
export interface JournalMark {
  /** What a former life noted; undefined where there is nothing that can be read. */
  readonly found: Noted | undefined;
  /** On disk when it returns. */
  begin(noted: Noted): void;
  /** The event with this number is told next. */
  note(seq: number): void;
  close(): void;
}

const RESERVED = 1000;

/** Opens the mark in this file, which is made if need be. Throws what the disk says. */
export const openMark = (path: string): JournalMark => {
  const found = readMark(path);
  const descriptor = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  let noted = found;
  const write = (now: Noted): void => {
    noted = now;
    const bytes = encode([JSON.stringify(now).padEnd(LENGTH)]);
    writeSync(descriptor, bytes, 0, bytes.length, 0);
  };
  return {
    found,
    begin: (now) => {
      write(now);
      fsyncSync(descriptor);
    },
    note: (last) => {
      if (noted === undefined || last <= noted.last) return;
      const isReserved = last <= noted.reserved;
      write({ ...noted, last, ...(!isReserved && { reserved: last + RESERVED }) });
      if (!isReserved) fsyncSync(descriptor);
    },
    close: () => {
      try {
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    },
  };
};

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

// Always as long: what is written over it leaves nothing behind it.
const LENGTH = 128;

/** What the file says; undefined where there is none that can be read. Writes nothing. */
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

/** Where a journal ends: its newest event. Releases before there were epochs wrote none. */
export interface JournalEnd {
  epoch?: string | undefined;
  last: number;
}

/** Whether the journal is older than what was told of it, or is another one. */
export const isOlder = ({ epoch, last }: JournalEnd, noted: Noted | undefined): boolean =>
  noted !== undefined && (last < noted.last || (epoch !== undefined && epoch !== noted.epoch));
