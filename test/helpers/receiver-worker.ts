/** A receiver of webhooks in a thread of its own: see receiver-thread.ts. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const came = new Int32Array(workerData as SharedArrayBuffer);
const ids: string[] = [];
const held: ServerResponse[] = [];
let allowed = 0;

const answer = (): void => {
  for (; allowed > 0 && held.length > 0; allowed -= 1) held.shift()?.writeHead(204).end();
};

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    ids.push(String(request.headers['webhook-id']));
    held.push(response);
    Atomics.add(came, 0, 1);
    Atomics.notify(came, 0);
    answer();
  });
});

parentPort?.on('message', (more: number | 'ids') => {
  if (more === 'ids') return parentPort?.postMessage(ids);
  allowed += more;
  answer();
});

server.listen(0, '127.0.0.1', () =>
  parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`),
);
