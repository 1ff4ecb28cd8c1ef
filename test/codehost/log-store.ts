import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';

/** What is sent for a log: a text, a status, where it leads to, or whatever this does. */
export type Kept = string | number | URL | ((response: ServerResponse) => void);

/** The server beside GitHub's on which logs lie: who comes there must bring no token. */
export interface LogStore {
  /** Keeps a log, and answers its address, which only a signature opens. */
  keep(log: Kept): string;
  requests: { path: string; headers: IncomingHttpHeaders }[];
}

export const startLogStore = async (t: TestContext): Promise<LogStore> => {
  const logs: Kept[] = [];
  const requests: LogStore['requests'] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://logs.example');
    requests.push({ path: pathname, headers: request.headers });
    send(response, logs[Number(pathname.slice(1))] ?? 404);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const keep = (log: Kept): string =>
    `http://127.0.0.1:${port}/${logs.push(log) - 1}?sig=only-for-this-hour`;
  return { keep, requests };
};

const send = (response: ServerResponse, log: Kept): void => {
  if (typeof log === 'function') log(response);
  else if (typeof log === 'number') response.writeHead(log).end('<Error/>');
  else if (log instanceof URL) response.writeHead(307, { location: log.href }).end();
  else response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(log);
};
