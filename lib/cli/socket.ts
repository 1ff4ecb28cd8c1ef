import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
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
import { cameByPath } from '../tools/process/caller.ts';
import { Refusal } from './args/refusal.ts';

// Of these every sandbox has its own, or none: what is made there later is not seen by a run that has begun, either.
const HIDDEN_FROM_RUNS = ['/run', '/tmp'];

/**
 * Makes the directory of the socket if need be, which this user alone can enter. Throws a Refusal for a place that
 * another user could open, or that a sandbox may show.
 */
export const checkSocketPlace = (path: string): void => {
  if (!isAbsolute(path) || Buffer.byteLength(path) > LONGEST_SOCKET_PATH)
    throw new Refusal(
      `${path} cannot be a socket: give an absolute path of at most ${LONGEST_SOCKET_PATH} bytes with --socket`,
    );
  const dir = dirname(path);
  if (!existsSync(dirname(dir))) throw new Refusal(`There is no ${dirname(dir)} to make ${dir} in`);
  const place = join(realpathSync(dirname(dir)), basename(dir));
  if (!HIDDEN_FROM_RUNS.some((root) => place !== root && isAtOrBelow(place, root)))
    throw new Refusal(
      `${path} may be seen from a sandbox: give --socket a directory below /run or /tmp, such as /run/user/${process.getuid?.()}/dossier/socket`,
    );
  if (isInRepository(place))
    throw new Refusal(`${path} is in a git repository, which sandboxes show. Give another place`);
  if (!existsSync(place)) mkdirSync(place, { mode: 0o700 });
  if (!isPrivateDirectory(place))
    throw new Refusal(
      `${dir} has to be a directory of yours that nobody else can enter: chmod 700`,
    );
  const others = readdirSync(place).filter((name) => name !== basename(path));
  if (others.length > 0)
    throw new Refusal(
      `${dir} has to hold the socket alone, and has ${others[0]}. Give another place`,
    );
};

const isInRepository = (place: string): boolean =>
  !HIDDEN_FROM_RUNS.includes(place) &&
  (existsSync(join(place, '.git')) || isInRepository(dirname(place)));

/**
 * The path of the default socket of a daemon that listens at `url`: in the runtime directory, else in the state directory. Both
 * directories are created, so that every sandbox can cover them, whichever daemon listens there later. Throws a Refusal where
 * neither is this user's and closed to others.
 */
export const defaultSocketPlace = (url: string, env: Config['env']): string => {
  const tried = socketDirs(env).map((dir) => {
    const path = join(dir, socketName(url));
    return { path, why: whyNotIn(dir, path) };
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

const whyNotIn = (dir: string, path: string): string | undefined => {
  if (Buffer.byteLength(path) > LONGEST_SOCKET_PATH)
    return `its path has more than ${LONGEST_SOCKET_PATH} bytes`;
  try {
    makeDirectory(dir);
  } catch (error) {
    return messageOf(error);
  }
  return isPrivateDirectory(dir) ? undefined : `other users can enter ${dir}: run chmod 700`;
};

// The runtime directory is the system's to create, and after `su` it is another user's.
const makeDirectory = (dir: string): void => {
  const isInState = basename(dir) === 'run';
  if (!isInState && !isPrivateDirectory(dirname(dir)))
    throw new Error(`${dirname(dir)} is not a directory of this user alone`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
};

/** Serves what connects to the socket as what connects to the port. Throws a Refusal where another program listens. */
export const serveSocket = async (path: string, http: HttpServer): Promise<Server> => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    cameByPath(socket);
    http.emit('connection', socket);
  });
  await leaveRoom(path);
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, 0o600);
  return server;
};

const leaveRoom = async (path: string): Promise<void> => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Refusal(`${path} is there, and is no socket`);
  const socket = connect(path);
  const answers = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  if (answers) throw new Refusal(`Another program listens on ${path}. Give another with --socket`);
  rmSync(path);
};
