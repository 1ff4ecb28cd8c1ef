import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { receiveWebhook, type WebhookEvent } from '../receive-webhook.ts';

export interface Mailbox {
  url: string;
  /** Told by the daemon when the mailbox is registered. */
  secret: string;
  /** The next verified event, in the order in which they came. Fails after ten seconds. */
  next(): Promise<WebhookEvent>;
  close(): void;
}

const PATIENCE_MS = 10_000;

/** A receiver on a free port of this machine that keeps what it is sent. */
export const openMailbox = async (): Promise<Mailbox> => {
  const came: WebhookEvent[] = [];
  let wake = (): void => undefined;
  const server = createServer((request, response) =>
    receiveWebhook(request, response, mailbox.secret, (event) => {
      came.push(event);
      wake();
    }),
  );
  const mailbox: Mailbox = {
    url: '',
    secret: '',
    next: () =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('No webhook came')), PATIENCE_MS);
        wake = () => {
          const event = came.shift();
          if (event === undefined) return;
          clearTimeout(timer);
          wake = () => undefined;
          resolve(event);
        };
        wake();
      }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  mailbox.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return mailbox;
};
