import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';

/** One delivery as it came over the wire. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  /** The raw body, as text. */
  body: string;
}

/** What a receiver does: a status, a status with headers, or nothing at all until the test ends. */
export type Reply = number | { status: number; headers?: Record<string, string> } | 'silence';

export interface TestReceiver {
  url: string;
  received: Received[];
  /** Resolves once so many came; fails after two minutes. */
  atLeast(count: number): Promise<Received[]>;
  /** What the next ones are answered; after the last, 204. */
  script(...replies: Reply[]): void;
  close(): Promise<void>;
}

const PATIENCE_MS = 120_000;

/** A real HTTP server on loopback that keeps what it is sent and answers as the test says. `port` 0: any. */
export const openReceiver = async (t: TestContext, port = 0): Promise<TestReceiver> => {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  let replies: Reply[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8');
      received.push({ path: request.url ?? '', headers: request.headers, body });
      for (const look of waiting) look();
      answer(response, replies.shift() ?? 204);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(t, close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    atLeast: (count) => arrival(received, waiting, count),
    script: (...next) => {
      replies = next;
    },
    close,
  };
};

const answer = (response: ServerResponse, reply: Reply): void => {
  if (reply === 'silence') return;
  const { status, headers = {} } = typeof reply === 'number' ? { status: reply } : reply;
  response.writeHead(status, headers).end();
};

const arrival = (
  received: Received[],
  waiting: Set<() => void>,
  count: number,
): Promise<Received[]> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(look);
      reject(new Error(`${received.length} of ${count} deliveries came`));
    }, PATIENCE_MS);
    const look = (): void => {
      if (received.length < count) return;
      waiting.delete(look);
      clearTimeout(timer);
      resolve(received);
    };
    waiting.add(look);
    look();
  });
