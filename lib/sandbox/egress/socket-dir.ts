import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';

/** Node cuts a longer path of a socket without a word. */
const LONGEST_PATH = 107;
const PREFIX = 'dossier-net-';
const LONGEST_NAME = '/out'.length;

/**
 * A new directory that no other user can enter, for the sockets of one run: below /tmp, of which a sandbox has one of its
 * own. Throws where no path would be short enough.
 */
export const makeSocketDir = (parents: readonly string[] = parentsHere()): string => {
  const short = parents.filter(
    (path) => Buffer.byteLength(join(path, `${PREFIX}XXXXXX`)) + LONGEST_NAME <= LONGEST_PATH,
  );
  const [dir, refused] = firstOf(short);
  if (dir !== undefined) return dir;
  if (refused !== undefined) throw refused;
  throw new Error(
    `The directory for temporary files, ${parents.join(', ')}, has too long a path for a socket: set TMPDIR to a shorter one.`,
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

// The daemon's own directory, where /tmp is full.
const parentsHere = (): string[] =>
  process.platform === 'win32' ? [tmpdir()] : ['/tmp', tmpdir()];

/** Removes the directories that daemons which were killed left behind: those of ours whose socket nobody listens on. */
export const sweepSocketDirs = async (parent = '/tmp'): Promise<void> => {
  const names = orElse(() => readdirSync(parent), []).filter((name) => name.startsWith(PREFIX));
  await Promise.all(names.map((name) => sweepOne(join(parent, name)).catch(() => undefined)));
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
