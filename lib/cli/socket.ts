import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  unlinkSync,
} from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { messageOf } from '../../store/base/attempt.ts';
import { isAtOrBelow } from '../../store/base/paths.ts';
import {
  isPrivateDirectory,
  LONGEST_SOCKET_PATH,
  socketDirs,
  socketName,
} from '../client/node/socket-path.ts';
import type { Config } from '../config.ts';
import { markUnixConnection } from '../tools/process/caller.ts';
import { Refusal } from './args/refusal.ts';

// Every sandbox has its own /run and /tmp, or none, so a running one cannot see what is created there later either.
const HIDDEN_FROM_RUNS = ['/run', '/tmp'];

/**
 * Creates the socket's directory if needed, for this user only. Throws a Refusal for a path that another user could open,
 * or that a sandbox may show.
 */
export const checkSocketPath = (path: string): void => {
  if (!isAbsolute(path) || Buffer.byteLength(path) > LONGEST_SOCKET_PATH)
    throw new Refusal(
      `${path} cannot be a socket: give an absolute path of at most ${LONGEST_SOCKET_PATH} bytes with --socket`,
    );
  const dir = dirname(path);
  if (!existsSync(dirname(dir)))
    throw new Refusal(`${dirname(dir)} does not exist. Create it, or give --socket another path`);
  const place = join(realpathSync(dirname(dir)), basename(dir));
  if (!HIDDEN_FROM_RUNS.some((root) => place !== root && isAtOrBelow(place, root)))
    throw new Refusal(
      `${path} may be visible in a sandbox. Give --socket a path in a directory below /run or /tmp, such as /run/user/${process.getuid?.()}/dossier/socket`,
    );
  if (isInRepository(place))
    throw new Refusal(
      `${path} is in a git repository, which is visible in sandboxes. Give another path`,
    );
  if (!existsSync(place)) mkdirSync(place, { mode: 0o700 });
  if (!isPrivateDirectory(place))
    throw new Refusal(
      `${dir} must be your own directory, which no other user can enter: run chmod 700`,
    );
  const others = readdirSync(place).filter((name) => name !== basename(path));
  if (others.length > 0)
    throw new Refusal(
      `${dir} must contain only the socket, but contains ${others[0]}. Give another path`,
    );
};

const isInRepository = (place: string): boolean =>
  !HIDDEN_FROM_RUNS.includes(place) &&
  (existsSync(join(place, '.git')) || isInRepository(dirname(place)));

/**
 * The path of the default socket of a daemon at `url`, in the runtime directory or else in the state directory. Creates both
 * directories, so that every sandbox can cover them. Throws a Refusal unless one of them is private to this user.
 */
export const prepareDefaultSocket = (url: string, env: Config['env']): string => {
  const tried = socketDirs(env).map((dir) => {
    const path = join(dir, socketName(url));
    return { path, why: directoryProblem(dir, path) };
  });
  const found = tried.find(({ why }) => why === undefined);
  if (found !== undefined) return found.path;
  const [first] = tried;
  throw new Refusal(
    first === undefined
      ? 'There is no default socket: neither HOME nor XDG_STATE_HOME is an absolute path'
      : `The default socket ${first.path} cannot be used: ${tried.map(({ why }) => why).join(', ')}`,
  );
};

const directoryProblem = (dir: string, path: string): string | undefined => {
  if (Buffer.byteLength(path) > LONGEST_SOCKET_PATH)
    return `its path has more than ${LONGEST_SOCKET_PATH} bytes`;
  try {
    makeDirectory(dir);
  } catch (error) {
    return messageOf(error);
  }
  return isPrivateDirectory(dir) ? undefined : `other users can enter ${dir}: run chmod 700`;
};

// The system creates the runtime directory; after `su` it belongs to another user.
const makeDirectory = (dir: string): void => {
  const isInState = basename(dir) === 'run';
  if (!isInState && !isPrivateDirectory(dirname(dir)))
    throw new Error(`${dirname(dir)} is not a directory of this user only`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
};

/** Serves HTTP on the socket. Throws a Refusal if another program listens there. */
export const serveSocket = async (path: string, http: HttpServer): Promise<Server> => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    markUnixConnection(socket);
    http.emit('connection', socket);
  });
  await removeStaleSocket(path);
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, 0o600);
  return server;
};

const removeStaleSocket = async (path: string): Promise<void> => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Refusal(`${path} exists and is not a socket`);
  const socket = connect(path);
  const answers = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  if (answers) throw new Refusal(`Another program listens on ${path}. Give another with --socket`);
  unlinkSync(path);
};
