import { closeSync, fstatSync, fsyncSync, lstatSync } from 'node:fs';
import { addLines, openLines } from '../fs/lines.ts';
import { parseEvent } from './transcript-event.ts';

/** events.ndjson, as it is written. `path` is where it is this moment. */
export interface EventLog {
  /** How large the file is, in bytes, with whatever others wrote to it. Opens it. */
  size(): number;
  add(text: string): void;
  /** Returns when everything so far is on disk. */
  sync(): void;
}

export const openEventLog = (path: () => string): EventLog => {
  let log: Open | undefined;
  const close = (): void => {
    if (log !== undefined) closeSync(log.descriptor);
    log = undefined;
  };
  const opened = (): Open => {
    if (log !== undefined && !isAsLeft(log, path())) close();
    log ??= open(path());
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

interface Open {
  descriptor: number;
  inode: number;
  size: number;
}

const open = (path: string): Open => {
  const descriptor = openLines(path, parseEvent);
  const { ino, size } = fstatSync(descriptor);
  return { descriptor, inode: ino, size };
};

// An editor that saves puts another file in its place, or leaves this one without its last newline.
const isAsLeft = ({ inode, size }: Open, path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.ino === inode && found.size === size;
};
