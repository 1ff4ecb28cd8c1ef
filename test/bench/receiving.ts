/**
 * Receivers of webhooks, by their path: `/fast/N` answers at once, `/slow/N` after a second, `/failing/N` with 500, and
 * `/hanging/N` never. Sent a count, it answers with how late each event was at `/fast/0`, in milliseconds, once it has so many.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const SLOW_MS = 1000;
let late: number[] = [];
let wanted = 0;

const answers: Record<string, (response: ServerResponse) => void> = {
  fast: (response) => response.writeHead(204).end(),
  slow: (response) => setTimeout(() => response.writeHead(204).end(), SLOW_MS),
  failing: (response) => response.writeHead(500).end(),
  hanging: () => undefined,
};

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const [, kind = ''] = request.url?.split('/') ?? [];
    if (request.url === '/fast/0') note(Buffer.concat(parts).toString());
    answers[kind]?.(response);
  });
});

const note = (body: string): void => {
  late.push(Date.now() - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp));
  report();
};

const report = (): void => {
  if (late.length < wanted || wanted === 0) return;
  process.send?.(late);
  [late, wanted] = [[], 0];
};

process.on('message', (count: number) => {
  wanted = count;
  report();
});

server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
