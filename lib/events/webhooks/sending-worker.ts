/** Entry point of the thread that sends webhooks; see sending-thread.ts. */
import { parentPort } from 'node:worker_threads';
import { createSender, isAccepted } from './sender.ts';
import type {
  AttemptResult,
  SendingOrder,
  SendingReport,
  WebhookRequest,
} from './sending-thread.ts';
import { signatures } from './sign.ts';

let own: string | undefined;
const sender = createSender(() => own);
const cancelled = new Set<number>();

const report = (report: SendingReport): void => parentPort?.postMessage(report);

const sendOne = async ({
  url,
  headers,
  body,
  id,
  secret,
}: WebhookRequest): Promise<AttemptResult | undefined> => {
  const at = new Date();
  const signed = { ...headers, ...signatures(secret, { id, body, at }) };
  const answer = await sender.send({ url, headers: signed, body });
  return answer && { ...answer, at: at.toISOString(), to: url };
};

const sendAll = async (run: number, requests: readonly WebhookRequest[]): Promise<void> => {
  for (const [place, request] of requests.entries()) {
    if (cancelled.has(run)) break;
    const sent = await sendOne(request);
    if (sent === undefined) break;
    report({ kind: 'sent', run, place, sent });
    if (!isAccepted(sent)) break;
  }
  cancelled.delete(run);
  report({ kind: 'over', run });
};

parentPort?.on('message', (order: SendingOrder) => {
  if (order.kind === 'cancel') cancelled.add(order.run);
  if (order.kind === 'close') void sender.close().then(() => report({ kind: 'closed' }));
  if (order.kind !== 'send') return;
  own = order.own;
  void sendAll(order.run, order.requests);
});
