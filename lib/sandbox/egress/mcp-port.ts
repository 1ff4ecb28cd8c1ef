import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readAuthority } from './authority.ts';
import { type AnswerMcp, answerMcp, problem } from './mcp-door.ts';
import { isLoopback } from './rules.ts';

/** A port of this machine's loopback that serves MCP and nothing else, until it is closed. */
export const openMcpPort = async (mcp: AnswerMcp): Promise<{ port: number; close: () => void }> => {
  const server = createServer((request, response) => {
    if (isForUs(request.headers)) void answerMcp(request, response, mcp);
    else problem(response, 403, 'Only programs of this machine are served');
  });
  server.listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, close };
};

// No web page has the token; none is even asked for it.
const isForUs = ({ host = '', origin }: IncomingHttpHeaders): boolean =>
  origin === undefined && isLoopback(readAuthority(host, 80)?.host ?? '');
