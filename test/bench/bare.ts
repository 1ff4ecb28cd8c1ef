/** The limits that requests are measured against: hapi with ready answers, nothing else. Not part of the product. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { server } from '@hapi/hapi';

const item = {
  id: '00000000-0000-4000-8000-000000000000',
  title: 'A Work item of the usual size',
  type: 'bug',
  description: 'x'.repeat(600),
  state: 'OPEN',
  outcome: null,
  project: 'default',
  path: 'cases/2026-01/a-work-item-of-the-usual-size-00000000',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
};
const one = Buffer.from(JSON.stringify(item));
const thousand = Buffer.from(JSON.stringify(Array.from({ length: 1000 }, () => item)));

const bare = server({ host: '127.0.0.1', port: 0 });
bare.route([
  {
    method: 'GET',
    path: '/one',
    handler: (_request, h) => h.response(one).type('application/json'),
  },
  {
    // Looks for a row that is at the end of the kernel's table of TCP connections.
    method: 'GET',
    path: '/one-of-table',
    handler: async (_request, h) => {
      const table = await readFile('/proc/net/tcp', 'latin1');
      return h.response(table.includes('no such row') ? '' : one).type('application/json');
    },
  },
  {
    method: 'GET',
    path: '/thousand',
    handler: (_request, h) => h.response(thousand).type('application/json'),
  },
]);
await bare.start();
// A path: also a Unix socket.
const [, , path] = process.argv;
if (path !== undefined)
  await new Promise<void>((resolve) => {
    createServer({ allowHalfOpen: true }, (socket) => void bare.listener.emit('connection', socket))
      .listen(path, resolve)
      .unref();
  });
process.stdout.write(`${bare.info.uri}\n`);
process.once('SIGTERM', () => {
  bare.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
