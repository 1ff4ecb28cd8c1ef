import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { type Authority, authorityText } from './authority.ts';
import { problem } from './mcp-door.ts';
import { reach, reachUpstream } from './reach.ts';
import type { Way } from './way.ts';
import type { World } from './world.ts';

interface Asked {
  url: URL;
  goal: Authority;
  way: Way;
  /** Called once there is a connection. */
  reached: () => void;
}

/** Passes a request in absolute form on, and its answer back. Rejects with Unreached. */
export const forward = async (
  from: IncomingMessage,
  to: ServerResponse,
  { url, goal, way, reached }: Asked,
  world: World,
): Promise<void> => {
  const behind = way.kind === 'upstream' ? way.upstream : undefined;
  const socket = behind ? await reachUpstream(behind) : await reach(goal, way, world);
  reached();
  const own = behind?.authorization && { 'proxy-authorization': behind.authorization };
  const onward = request({
    method: from.method,
    path: behind ? url.href : `${url.pathname}${url.search}`,
    headers: { ...endToEnd(from.headers), host: hostOf(goal), ...own, connection: 'close' },
    createConnection: () => socket,
    setHost: false,
  });
  const failed = (error: Error): void => {
    onward.destroy();
    problem(to, 502, `${authorityText(goal)} did not answer: ${error.message}`);
  };
  onward.once('error', failed);
  onward.once('response', (answer) => {
    to.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    answer.pipe(to);
    answer.once('error', () => to.destroy());
  });
  to.once('close', () => onward.destroy());
  from.once('error', () => onward.destroy());
  from.pipe(onward);
};

const hostOf = (goal: Authority): string =>
  goal.port === 80 ? authorityText(goal).replace(/:80$/, '') : authorityText(goal);

// What is between us and one neighbour, and a credential that a program has for a proxy.
const HOP = new Set([
  ...['connection', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate', 'keep-alive'],
  ...['te', 'trailer', 'upgrade', 'host'],
]);

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const kept = Object.entries(headers).filter(
    ([name]) => !HOP.has(name) && (!named.includes(name) || name === 'transfer-encoding'),
  );
  return Object.fromEntries(kept);
};
