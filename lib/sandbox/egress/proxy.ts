import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { orElse } from '../../../store/base/attempt.ts';
import { type Authority, authorityText, isLoopback, readAuthority } from './authority.ts';
import { createHttp, IDLE_MS, serveHttp } from './bounded-http.ts';
import { decideRoute, type EgressRules, type Route } from './egress-policy.ts';
import type { RunLimits } from './limits.ts';
import { answerMcp, type McpDoor, problem } from './mcp-door.ts';
import type { NetworkEnvironment } from './network-environment.ts';
import { join, reach, reachUpstream, Unreached } from './reach.ts';

/** A destination that a run reached or was refused. */
export interface NetworkNews extends Authority {
  allowed: boolean;
  reason?: string;
}

interface ProxyOptions {
  rules: EgressRules;
  network: NetworkEnvironment;
  /** The port inside that leads here: a request to it is for the daemon's MCP server. */
  port: number;
  mcp: McpDoor;
  limits: RunLimits;
  tell: (told: NetworkNews) => void;
}

/** The proxy of one run: CONNECT, requests in absolute form, and MCP. The returned function serves one connection. */
export const createProxy = (options: ProxyOptions): ((socket: Socket) => void) => {
  const { limits, mcp } = options;
  const inner = createHttp(limits, (request, response) => answerMcp(request, response, mcp));
  // One CONNECT per connection: nested tunnels would add state without limit.
  inner.on('connect', (_request, socket: Duplex) =>
    end(socket, 400, 'CONNECT inside a tunnel is not supported'),
  );
  const outer = createHttp(limits, (request, response) => serve(request, response, options));
  outer.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.setTimeout(IDLE_MS);
    void connect(inner, { request, socket, head }, options);
  });
  return (socket) => serveHttp(outer, socket);
};

const serve = async (
  request: IncomingMessage,
  response: ServerResponse,
  options: ProxyOptions,
): Promise<void> => {
  const { url = '' } = request;
  if (url.startsWith('/')) return answerMcp(request, response, options.mcp);
  const asked = absolute(url);
  if (asked === undefined)
    return problem(
      response,
      400,
      'This is a proxy: use CONNECT for https, and the whole URL for http',
    );
  if (isOwn(asked.goal, options)) {
    request.url = `${asked.url.pathname}${asked.url.search}`;
    return answerMcp(request, response, options.mcp);
  }
  const { goal } = asked;
  const { rules, network, tell } = options;
  try {
    const route = await decideRoute(goal, 'http', rules, network);
    const reached = (): void => tell({ ...goal, allowed: true });
    await forward(request, response, { ...asked, route, reached }, network);
  } catch (error) {
    const { status, reason } = refusal(goal, error, tell);
    problem(response, status, reason);
  }
};

interface Tunnel {
  request: IncomingMessage;
  socket: Socket;
  head: Buffer;
}

const connect = async (
  inner: Server,
  { request, socket, head }: Tunnel,
  options: ProxyOptions,
): Promise<void> => {
  const goal = readAuthority(request.url ?? '');
  if (goal === undefined) return end(socket, 400, 'CONNECT needs HOST:PORT');
  if (isOwn(goal, options)) {
    socket.write(ESTABLISHED);
    if (head.length > 0) socket.unshift(head);
    inner.emit('connection', socket);
    return;
  }
  const { rules, network, tell } = options;
  try {
    const far = await reach(goal, await decideRoute(goal, 'https', rules, network), network);
    tell({ ...goal, allowed: true });
    if (socket.destroyed) return void far.destroy();
    socket.write(ESTABLISHED);
    if (head.length > 0) far.write(head);
    far.setTimeout(IDLE_MS, () => far.destroy());
    join(socket, far);
  } catch (error) {
    const { status, reason } = refusal(goal, error, tell);
    end(socket, status, reason);
  }
};

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';
const PHRASES: Record<number, string> = {
  400: 'Bad Request',
  403: 'Forbidden',
  502: 'Bad Gateway',
};

const end = (socket: Duplex, status: number, why: string): void => {
  const text = `Dossier: ${why}.\n`;
  const lines = [
    `HTTP/1.1 ${status} ${PHRASES[status]}`,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
  // After the answer, close on further data or after 5 s.
  socket.once('data', () => socket.destroy());
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
};

const LINGER_MS = 5000;

const refusal = (
  goal: Authority,
  error: unknown,
  tell: ProxyOptions['tell'],
): { status: number; reason: string } => {
  if (!(error instanceof Unreached))
    return { status: 502, reason: `${authorityText(goal)}: ${String(error)}` };
  const { status, message: reason } = error;
  if (status === 403) tell({ ...goal, allowed: false, reason });
  return { status, reason };
};

const absolute = (text: string): { url: URL; goal: Authority } | undefined => {
  const url = /^http:\/\//i.test(text) ? orElse(() => new URL(text), undefined) : undefined;
  const goal = url && readAuthority(url.host, 80);
  return goal && { url, goal };
};

const isOwn = ({ host, port }: Authority, options: ProxyOptions): boolean =>
  port === options.port && isLoopback(host);

interface Asked {
  url: URL;
  goal: Authority;
  route: Route;
  /** Called once there is a connection. */
  reached: () => void;
}

/** Forwards a request in absolute form and its response. Rejects with Unreached. */
const forward = async (
  from: IncomingMessage,
  to: ServerResponse,
  { url, goal, route, reached }: Asked,
  network: NetworkEnvironment,
): Promise<void> => {
  const behind = route.kind === 'upstream' ? route.upstream : undefined;
  const socket = behind ? await reachUpstream(behind) : await reach(goal, route, network);
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

// Hop-by-hop headers, and a program's credential for a proxy.
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
