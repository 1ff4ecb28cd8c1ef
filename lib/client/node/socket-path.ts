import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

/** The longest path that every system takes for a Unix socket, in bytes. Node truncates a longer one silently. */
export const LONGEST_SOCKET_PATH = 107;

/**
 * The directories of this user in which daemons listen by default, the preferred one first: below the runtime directory
 * (XDG Base Directory Specification), then below the state directory. They need not exist.
 */
export const socketDirs = ({ XDG_RUNTIME_DIR, XDG_STATE_HOME, HOME }: Variables): string[] => {
  const runtime = isPath(XDG_RUNTIME_DIR) ? [join(XDG_RUNTIME_DIR, 'dossier')] : [];
  const state = isPath(XDG_STATE_HOME) ? XDG_STATE_HOME : isPath(HOME) && join(HOME, STATE);
  return state === false ? runtime : [...runtime, join(state, 'dossier', 'run')];
};

const STATE = '.local/state';

const isPath = (value: string | undefined): value is string =>
  value !== undefined && isAbsolute(value);

/**
 * The socket's name for a daemon that listens at this address: `127.0.0.1-4870-1f0c9a3e.sock`. The last part is of the
 * machine and the network namespace: the same address in a container, or on another machine with the same home directory,
 * is another daemon's.
 */
export const socketName = (url: string): string => {
  const { hostname: host, port } = new URL(url);
  const address = host === 'localhost' ? '127.0.0.1' : host.replace(/^\[(.*)\]$/, '$1');
  mark ??= readNetworkMark();
  return `${address}-${port || '80'}-${mark}.sock`;
};

// A process keeps its machine and its network: they are read once, not for each call.
let mark: string | undefined;

const readNetworkMark = (): string => {
  const boot = orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const namespace = orEmpty(() => readlinkSync('/proc/self/ns/net'));
  const whole = [hostname(), boot, namespace].join('\n');
  return createHash('sha256').update(whole).digest('hex').slice(0, 8);
};

// Only Linux has them.
const orEmpty = (read: () => string): string => {
  try {
    return read();
  } catch {
    return '';
  }
};

/** Whether a directory is this user's and no other user can enter it. False where it does not exist. */
export const isPrivateDirectory = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return (
    found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & OTHERS) === 0
  );
};

const OTHERS = 0o077;

/** The socket of the daemon at this address; undefined where it has none that only this user can open. */
export const findSocket = (url: string, env: Variables): string | undefined => {
  const name = socketName(url);
  for (const dir of socketDirs(env)) {
    if (!isPrivateDirectory(dir)) continue;
    const path = join(dir, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) return path;
  }
  return undefined;
};
