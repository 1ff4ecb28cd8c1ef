import { closeSync, fstatSync, fsyncSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { jsonText } from '../base/visible.ts';
import { addLines, lastLine, openLines } from '../fs/lines.ts';
import { makeSyncedDirectory } from '../fs/synced.ts';
import type { LogFiles } from './log-reader.ts';
import {
  keptElsewhereEvent,
  logContinuedEvent,
  type NewTranscriptEvent,
  parseEvent,
  type TranscriptEvent,
  withoutText,
} from './transcript-event.ts';

interface LogOptions {
  /** Bytes of events.ndjson with texts. */
  limit: number;
  /** Makes invisible characters of an event's data visible. */
  shown: (untold: NewTranscriptEvent) => NewTranscriptEvent[1];
  /** Throws if events.ndjson must not be written. */
  assertMeant: (() => void) | undefined;
}

/** Writes a session's log: completely into events.ndjson up to its limit, then without texts, with the complete log in `rest`. */
export const openLog = ({ path, rest }: LogFiles, { limit, shown, assertMeant }: LogOptions) => {
  const kept = openEventLog(path, assertMeant);
  const whole = rest && openEventLog(rest, () => makeSyncedDirectory(dirname(rest()), 0o700));
  const last = [lastOf(path), ...(rest ? [lastOf(rest)] : [])].toSorted((a, b) => b.seq - a.seq)[0];
  let seq = last?.seq ?? 0;
  const textOf = (events: readonly Numbered[], at: string): string =>
    events
      .map(({ id, untold }) => ({ id, event: untold[0], data: { ...shown(untold), at } }))
      .map((event) => `${jsonText(event)}\n`)
      .join('');
  const isLong = (): boolean => whole !== undefined && kept.size() >= limit;
  const split = (at: string): void => {
    seq += 1;
    kept.add(textOf([{ id: seq, untold: keptElsewhereEvent(limit) }], at));
    whole?.add(textOf([{ id: seq, untold: logContinuedEvent }], at));
  };
  return {
    /** The number of the last event, of both files. */
    get seq() {
      return seq;
    },
    /** The last event when the log was opened. */
    last: last?.event,
    /** Bytes written to both files. */
    size: (): number => kept.size() + (isLong() ? (whole?.size() ?? 0) : 0),
    add: (
      untold: readonly NewTranscriptEvent[],
      { at, goesOn }: { at: string; goesOn: boolean },
    ): void => {
      const events = untold.map((each, index) => ({ id: seq + 1 + index, untold: each }));
      const long = isLong();
      if (long) whole?.add(textOf(events, at));
      const told = long ? events.flatMap(withoutTexts) : events;
      if (told.length > 0) kept.add(textOf(told, at));
      seq += events.length;
      if (!long && goesOn && isLong()) split(at);
    },
    sync: (): void => {
      whole?.sync();
      kept.sync();
    },
  };
};

interface Numbered {
  id: number;
  untold: NewTranscriptEvent;
}

const withoutTexts = ({ id, untold }: Numbered): Numbered[] =>
  withoutText(untold).map((each) => ({ id, untold: each }));

// Unreadable lines had numbers too, which readers may have seen.
const lastOf = (path: () => string): { seq: number; event: TranscriptEvent | undefined } => {
  const { value, unread } = lastLine(path(), parseEvent);
  return { seq: (value?.id ?? 0) + unread, event: value };
};

/** A log file that is open for appending. */
const openEventLog = (path: () => string, beforeOpening?: () => void) => {
  let log: OpenLog | undefined;
  const close = (): void => {
    if (log !== undefined) closeSync(log.descriptor);
    log = undefined;
  };
  const opened = (): OpenLog => {
    if (log !== undefined && !isUnchanged(log, path())) close();
    if (log === undefined) beforeOpening?.();
    log ??= openFile(path());
    return log;
  };
  return {
    /** The file's size in bytes, including edits by other programs. Opens the file. */
    size: (): number => opened().size,
    add: (text: string): void => {
      const { descriptor } = opened();
      try {
        const written = addLines(descriptor, text);
        if (log !== undefined) log.size += written;
      } catch (error) {
        // The file may end with half a line, which the next opening cuts off.
        close();
        throw error;
      }
    },
    /** Returns once all lines are on disk. */
    sync: (): void => {
      if (log !== undefined) fsyncSync(log.descriptor);
      close();
    },
  };
};

interface OpenLog {
  descriptor: number;
  inode: number;
  size: number;
}

const openFile = (path: string): OpenLog => {
  const descriptor = openLines(path, parseEvent);
  const { ino, size } = fstatSync(descriptor);
  return { descriptor, inode: ino, size };
};

// Editors replace the file when they save, or drop its last newline.
const isUnchanged = ({ inode, size }: OpenLog, path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.ino === inode && found.size === size;
};
