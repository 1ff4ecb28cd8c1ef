/** A sending thread whose first request occupies a system call, as the lookup of a name that no server answers does. */
import { open } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { SendingOrder, SendingReport } from '../../lib/events/webhooks/sending-thread.ts';

const report = (report: SendingReport): void => parentPort?.postMessage(report);

parentPort?.on('message', (order: SendingOrder) => {
  if (order.kind === 'close') report({ kind: 'closed' });
  // The URL is the path of a named pipe: opening it for reading waits for a writer.
  if (order.kind === 'send') open(order.requests[0]?.url ?? '', 'r', () => undefined);
});
