/**
 * A receiver of webhooks: registers itself at a daemon that runs, prints each event whose signature is right, and
 * removes its registration when it is stopped with Ctrl-C. How a delivery is verified is in receive-webhook.ts.
 *
 *   node dist/examples/webhook-receiver.js [http://127.0.0.1:4870]
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { receiveWebhook, type WebhookEvent } from './receive-webhook.ts';

const [api = 'http://127.0.0.1:4870'] = process.argv.slice(2);

const print = ({ timestamp, event_type, payload }: WebhookEvent): void =>
  console.log(`${timestamp} ${event_type} ${JSON.stringify(payload)}`);

let secret = '';
const seen = new Set<string>();

const server = createServer((request, response) =>
  receiveWebhook(request, response, secret, (event, id) => {
    if (!seen.has(id)) print(event);
    seen.add(id);
  }),
);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

const registered = await fetch(`${api}/webhooks`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ url: `http://127.0.0.1:${port}/`, events: ['*'] }),
});
const webhook = (await registered.json()) as { id: string; secret: string };
// The only answer that shows the secret: a receiver of yours would keep it.
secret = webhook.secret;
console.log(`Listening at http://127.0.0.1:${port}/ as webhook ${webhook.id}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await fetch(`${api}/webhooks/${webhook.id}`, { method: 'DELETE' });
    server.close();
    server.closeAllConnections();
  });
}
