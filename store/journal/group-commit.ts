import type { JournalFile } from './journal-file.ts';

interface Waiting<T> {
  /** Undefined if the caller only waits for room. */
  line: T | undefined;
  done: (failure?: unknown) => void;
}

interface Steps<T> {
  settle: (line: T) => void;
  rotate: () => Promise<void>;
  state: number;
}

export const RESERVE = 131_072;
const COMPACT_FROM = 4_194_304;

/**
 * Appends lines with one sync for all that arrive while the disk is busy. `settle` is called for each line, in order, once
 * it is on disk; `rotate` starts a new file when this one is long compared with the `state` in it, in bytes.
 */
export const groupCommit = <T>(file: JournalFile, { settle, rotate, state }: Steps<T>) => {
  const queue: Waiting<T>[] = [];
  let base = state;
  let writing: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0);
      const failure = await inPlace()
        .then(() => write(file, batch))
        .then(() => undefined, asError);
      for (const waiting of batch) finish(waiting, failure);
      if (isLong(file, base)) await compact();
    }
    writing = undefined;
  };

  const inPlace = async (): Promise<void> => {
    if (!file.isInPlace()) await file.restore();
  };

  const finish = ({ line, done }: Waiting<T>, failure: unknown): void => {
    if (failure === undefined && line !== undefined) settle(line);
    done(failure);
  };

  // On a full disk the old file stays in use; the next attempt comes when it has grown again.
  const compact = async (): Promise<void> => {
    await rotate().catch(() => undefined);
    base = file.bytes;
  };

  return {
    /** Resolves when the line is on disk, or, without a line, when there is room for the next. */
    push: (line: T | undefined): Promise<void> =>
      new Promise((resolve, reject) => {
        const done = (failure?: unknown) => (failure === undefined ? resolve() : reject(failure));
        queue.push({ line, done });
        writing ??= drain();
      }),
    idle: async (): Promise<void> => {
      await writing;
    },
  };
};

/** Whether a file is long enough, compared with the state, to start a new one. */
export const isLong = ({ bytes }: Pick<JournalFile, 'bytes'>, state: number): boolean =>
  bytes > Math.max(COMPACT_FROM, 3 * state);

const write = async <T>(file: JournalFile, batch: Waiting<T>[]): Promise<void> => {
  const lines = batch.flatMap(({ line }) => (line === undefined ? [] : [JSON.stringify(line)]));
  if (lines.length < batch.length) await file.reserve(2 * RESERVE);
  if (lines.length > 0) await file.append(lines);
};

const asError = (failure: unknown): unknown => failure ?? new Error('The journal was not written');
