import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { isDone, orElse } from '../../../store/base/attempt.ts';
import { isDirectoryItself } from '../../../store/fs/plain-path.ts';
import type { Layout } from '../../../store/layout.ts';
import { Refusal } from '../args/refusal.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;

/** Opens the log of a daemon in the background, for its owner only. `from`: its current size. */
export const openLog = ({ dossier, log }: Layout): { fd: number; from: number } => {
  isDone(() => mkdirSync(dossier, { mode: 0o700 }), 'EEXIST');
  if (!isDirectoryItself(dossier))
    throw new Refusal(
      `${dossier} must be a directory, not a link or a file. Fix that, and try again`,
    );
  const fd = openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  chmodSync(log, 0o600);
  return { fd, from: fstatSync(fd).size };
};

const SHOWN_LINES = 10;
const SHOWN_BYTES = 16_384;

/** The last lines after `from`, or of the whole file if it was truncated since. */
export const lastLines = ({ log }: Layout, from: number): string[] => {
  const fd = openSync(log, 'r');
  const { size } = fstatSync(fd);
  const buffer = Buffer.alloc(Math.min(SHOWN_BYTES, size < from ? size : size - from));
  const read = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
  closeSync(fd);
  return buffer.toString('utf8', 0, read).trimEnd().split('\n').slice(-SHOWN_LINES);
};

const LARGEST_BYTES = 8 << 20;
const LOOK_MS = 60_000;
const STDERR = 2;

/**
 * Limits the size of the log that this process writes: at 8 MiB it is copied to `.1` and truncated. Both descriptors append,
 * so the next write is at its beginning.
 */
export const keepLogSmall = ({ log }: Layout): void => {
  const look = (): void => {
    const [own, there] = [fstatSync(STDERR), statSync(log)];
    if (own.ino !== there.ino || own.dev !== there.dev || own.size < LARGEST_BYTES) return;
    copyFileSync(log, `${log}.1`);
    ftruncateSync(STDERR);
  };
  const tryIt = (): void => orElse(look, undefined);
  tryIt();
  setInterval(tryIt, LOOK_MS).unref();
};
