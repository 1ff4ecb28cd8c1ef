import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RunLimits } from './limits.ts';

/** Idle limit of a connection. A thinking model sends nothing for minutes. */
export const IDLE_MS = 30 * 60_000;
const FIRST_REQUEST_MS = 30_000;

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** An HTTP server within the limits of one run. It does not listen: `serveHttp` passes admitted connections to it. */
export const createHttp = (limits: RunLimits, answer: Answer): Server => {
  const server = createServer({ maxHeaderSize: 32_768 }, async (request, response) => {
    request.socket.setTimeout(IDLE_MS);
    const leave = limits.enter(request.socket);
    if (leave === undefined) return void request.socket.destroy();
    response.once('close', leave);
    await limits.request();
    if (!response.destroyed) await answer(request, response);
  });
  // Answer a client that has closed its sending side.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    else socket.destroy();
  });
  return server;
};

/** Passes a paused connection to the server. */
export const serveHttp = (server: Server, socket: Socket): void => {
  socket.on('timeout', () => socket.destroy());
  server.emit('connection', socket);
  socket.setTimeout(FIRST_REQUEST_MS);
  socket.resume();
};
