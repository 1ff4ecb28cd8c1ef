/**
 * A receiver of webhooks: registers itself at a daemon that runs, prints each event whose signature is right, and
 * removes its registration when it is stopped with Ctrl-C. How a delivery is verified is in receive-webhook.ts.
 *
 *   node dist/examples/webhook-receiver.js [http://127.0.0.1:4870]
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// In a program of yours: from 'dossierd/client'.
import { connect } from '../lib/client/client.ts';
import { receiveWebhook, type WebhookEvent } from './receive-webhook.ts';

const [url] = process.argv.slice(2);
const dossier = connect({ url });

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

const webhook = await dossier.call('POST /webhooks', {
  body: { url: `http://127.0.0.1:${port}/`, events: ['*'] },
});
// The only answer that shows the secret: a receiver of yours would keep it.
secret = webhook.secret;
console.log(`Listening at http://127.0.0.1:${port}/ as webhook ${webhook.id}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await dossier.call('DELETE /webhooks/{id}', { id: webhook.id });
    server.close();
    server.closeAllConnections();
  });
}
