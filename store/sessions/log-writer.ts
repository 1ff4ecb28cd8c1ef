import { closeSync, fstatSync, fsyncSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { jsonText } from '../base/json.ts';
import { addLines, lastLine, openLines } from '../fs/lines.ts';
import { makeSyncedDirectory } from '../fs/make-directory.ts';
import type { LogFiles } from './log-reader.ts';
import {
  keptElsewhere,
  parseEvent,
  type TranscriptEvent,
  type Untold,
  wholeHere,
  withoutWords,
} from './transcript-event.ts';

/** Writes a session's log: all of it into events.ndjson until that is long, then what happened there, and all beside it. */
export interface LogWriter {
  /** The number of the last event, of both files. */
  readonly seq: number;
  /** The last event, as it is when this is opened. */
  readonly last: TranscriptEvent | undefined;
  /** The size of all that is written, in bytes. */
  size(): number;
  add(events: readonly Untold[], more: { at: string; goesOn: boolean }): void;
  sync(): void;
}

/** `shown`: how an event's data is written, so that all of it is seen. */
export const openLog = (
  { path, rest }: LogFiles,
  limit: number,
  shown: (untold: Untold) => Untold[1],
): LogWriter => {
  const kept = openEventLog(path);
  const whole = rest && openEventLog(rest);
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
    kept.add(textOf([{ id: seq, untold: keptElsewhere(limit) }], at));
    makeSyncedDirectory(dirname(rest?.() ?? ''), 0o700);
    whole?.add(textOf([{ id: seq, untold: wholeHere }], at));
  };
  return {
    get seq() {
      return seq;
    },
    last: last?.event,
    size: () => kept.size() + (isLong() ? (whole?.size() ?? 0) : 0),
    add: (untold, { at, goesOn }) => {
      const events = untold.map((each, index) => ({ id: seq + 1 + index, untold: each }));
      const long = isLong();
      if (long) whole?.add(textOf(events, at));
      const told = long ? events.flatMap(wordless) : events;
      if (told.length > 0) kept.add(textOf(told, at));
      seq += events.length;
      if (!long && goesOn && isLong()) split(at);
    },
    sync: () => {
      whole?.sync();
      kept.sync();
    },
  };
};

interface Numbered {
  id: number;
  untold: Untold;
}

const wordless = ({ id, untold }: Numbered): Numbered[] =>
  withoutWords(untold).map((each) => ({ id, untold: each }));

// Lines that nobody can read any more had numbers too, and readers may have seen them.
const lastOf = (path: () => string): { seq: number; event: TranscriptEvent | undefined } => {
  const { value, unread } = lastLine(path(), parseEvent);
  return { seq: (value?.id ?? 0) + unread, event: value };
};

/** events.ndjson, as it is written. `path` is where it is this moment. */
export interface EventLog {
  /** How large the file is, in bytes, with whatever others wrote to it. Opens it. */
  size(): number;
  add(text: string): void;
  /** Returns when everything so far is on disk. */
  sync(): void;
}

export const openEventLog = (path: () => string): EventLog => {
  let log: OpenLog | undefined;
  const close = (): void => {
    if (log !== undefined) closeSync(log.descriptor);
    log = undefined;
  };
  const opened = (): OpenLog => {
    if (log !== undefined && !isAsLeft(log, path())) close();
    log ??= openFile(path());
    return log;
  };
  return {
    size: () => opened().size,
    add: (text) => {
      const { descriptor } = opened();
      try {
        const written = addLines(descriptor, text);
        if (log !== undefined) log.size += written;
      } catch (error) {
        // Half a line may be there now; the next opening cuts it off.
        close();
        throw error;
      }
    },
    sync: () => {
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

// An editor that saves puts another file in its place, or leaves this one without its last newline.
const isAsLeft = ({ inode, size }: OpenLog, path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.ino === inode && found.size === size;
};
