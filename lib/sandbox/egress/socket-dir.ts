import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';

/** Node silently truncates a longer socket path. */
const LONGEST_PATH = 107;
const PREFIX = 'dossier-net-';
const LONGEST_NAME = '/out'.length;

/**
 * Creates a private directory for the sockets of one run, below /tmp, which is hidden in a sandbox. Throws if no path is
 * short enough.
 */
export const makeSocketDir = (parents: readonly string[] = parentsHere()): string => {
  const short = parents.filter(
    (path) => Buffer.byteLength(join(path, `${PREFIX}XXXXXX`)) + LONGEST_NAME <= LONGEST_PATH,
  );
  const [dir, refused] = firstOf(short);
  if (dir !== undefined) return dir;
  if (refused !== undefined) throw refused;
  throw new Error(
    `The path of the temporary directory, ${parents.join(', ')}, is too long for a socket. Set TMPDIR to a shorter path.`,
  );
};

const firstOf = (parents: readonly string[]): [made: string | undefined, why?: unknown] => {
  let why: unknown;
  for (const parent of parents) {
    try {
      return [mkdtempSync(join(parent, PREFIX))];
    } catch (error) {
      why ??= error;
    }
  }
  return [undefined, why];
};

// The daemon's TMPDIR, in case /tmp is full.
const parentsHere = (): string[] => ['/tmp', tmpdir()];

/** Removes directories of this user that killed daemons left: those without a listening socket. */
export const sweepSocketDirs = async (): Promise<void> => {
  const names = orElse(() => readdirSync('/tmp'), []).filter((name) => name.startsWith(PREFIX));
  await Promise.all(names.map((name) => sweepOne(join('/tmp', name)).catch(() => undefined)));
};

const MINUTE = 60_000;

const sweepOne = async (dir: string): Promise<void> => {
  const { uid, mtimeMs } = lstatSync(dir);
  if (uid !== process.getuid?.() || Date.now() - mtimeMs < MINUTE) return;
  if (!(await isListening(join(dir, 'out')))) rmSync(dir, { recursive: true, force: true });
};

const isListening = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
  });
