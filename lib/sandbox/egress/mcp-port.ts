import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { readAuthority } from './authority.ts';
import { createHttp, serveHttp } from './bounded-http.ts';
import type { McpPort } from './doors.ts';
import { createRunLimits } from './limits.ts';
import { type AnswerMcp, answerMcp, problem } from './mcp-door.ts';
import { isLoopback } from './rules.ts';

/** A port of this machine's loopback that serves MCP to who has this token and nothing else, until it is closed. */
export const openMcpPort = async (token: string | undefined, mcp: AnswerMcp): Promise<McpPort> => {
  const limits = createRunLimits();
  const door = { token, limits: limits.mcp, answer: mcp };
  const http = createHttp(limits, async (request, response) => {
    if (isForUs(request.headers)) await answerMcp(request, response, door);
    else problem(response, 403, 'Only programs of this machine are served');
  });
  http.on('connect', (_request, socket) => socket.destroy());
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) =>
    limits.admit(socket, () => serveHttp(http, socket)),
  );
  server.listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    limits.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
};

// No web page has the token; none is even asked for it.
const isForUs = ({ host = '', origin }: IncomingHttpHeaders): boolean =>
  origin === undefined && isLoopback(readAuthority(host, 80)?.host ?? '');
