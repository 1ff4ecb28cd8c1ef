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

/** Opens the file that a daemon without a terminal writes to, for its owner alone; answers how long it is by now, too. */
export const openLog = ({ dossier, log }: Layout): { fd: number; from: number } => {
  isDone(() => mkdirSync(dossier, { mode: 0o700 }), 'EEXIST');
  if (!isDirectoryItself(dossier))
    throw new Refusal(
      `${dossier} has to be a directory, not a link or a file. Mend that, and run this again`,
    );
  const fd = openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  chmodSync(log, 0o600);
  return { fd, from: fstatSync(fd).size };
};

const SHOWN_LINES = 10;
const SHOWN_BYTES = 16_384;

/** The last lines that stand there behind `from`, or in all that there is where it began anew since. */
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
 * Keeps the file small while this process writes to it: once it has 8 MiB it is kept beside itself, in place of the one
 * before, and begins anew. Both of its descriptors append, so what is written next stands at its beginning.
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
