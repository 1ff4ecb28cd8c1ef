import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { orElse } from '../../../base/or-else.ts';
import { type Authority, authorityText, readAuthority } from './authority.ts';
import { forward } from './forward.ts';
import { join } from './join.ts';
import { type AnswerMcp, answerMcp, problem } from './mcp-door.ts';
import { reach, Unreached } from './reach.ts';
import { isLoopback } from './rules.ts';
import { type WayRules, wayTo } from './way.ts';
import type { World } from './world.ts';

/** A goal that a run reached, or was refused. */
export interface NetworkNews {
  host: string;
  port: number;
  allowed: boolean;
  reason?: string;
}

interface ProxyOptions {
  rules: WayRules;
  world: World;
  /** The port inside that leads here: what asks for it by name means the daemon's MCP server. */
  port: number;
  mcp: AnswerMcp;
  tell: (told: NetworkNews) => void;
}

const IDLE_MS = 30 * 60_000;
const HEADERS = { maxHeaderSize: 32_768, headersTimeout: 30_000, requestTimeout: 0 };
const MOST_CONNECTIONS = 1024;

/** The way out of one run, not yet listening: CONNECT, requests in absolute form, and MCP. Survives what it is sent. */
export const createProxy = (options: ProxyOptions): Server => {
  const server = createServer(HEADERS, (request, response) => {
    void serve(request, response, options);
  });
  // Who has nothing more to say is answered all the same.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    void connect(server, { request, socket, head }, options);
  });
  server.on('connection', (socket) => socket.setTimeout(IDLE_MS, () => socket.destroy()));
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    else socket.destroy();
  });
  return server;
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
    return problem(response, 400, 'This is a proxy: for https use CONNECT, for http the whole URL');
  if (isOwn(asked.goal, options)) {
    request.url = `${asked.url.pathname}${asked.url.search}`;
    return answerMcp(request, response, options.mcp);
  }
  const { goal } = asked;
  const { rules, world, tell } = options;
  try {
    const way = await wayTo(goal, 'http', rules, world);
    const reached = (): void => tell({ ...goal, allowed: true });
    await forward(request, response, { ...asked, way, reached }, world);
  } catch (error) {
    const { status, reason } = refusal(goal, error, tell);
    problem(response, status, reason);
  }
};

interface Tunnel {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

const connect = async (
  server: Server,
  { request, socket, head }: Tunnel,
  options: ProxyOptions,
): Promise<void> => {
  const goal = readAuthority(request.url ?? '');
  if (goal === undefined) return end(socket, 400, 'CONNECT wants HOST:PORT');
  if (isOwn(goal, options)) {
    socket.write(ESTABLISHED);
    if (head.length > 0) socket.unshift(head);
    server.emit('connection', socket);
    return;
  }
  const { rules, world, tell } = options;
  try {
    const far = await reach(goal, await wayTo(goal, 'https', rules, world), world);
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
};

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
