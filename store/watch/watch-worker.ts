/** The thread that watches: see watch.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { WatchOrder, WatchReport, WatchTask } from './watch.ts';
import { watchPlaces } from './watch-places.ts';

const task = workerData as WatchTask;
const send = (report: WatchReport): void => parentPort?.postMessage(report);

let hints: string[] = [];

const flush = (): void => {
  send({ hints });
  hints = [];
};

const places = watchPlaces(task, {
  // All hints of one tick go in one message.
  hint: (path) => {
    if (hints.length === 0) setImmediate(flush);
    hints.push(path);
  },
  // Only the message of an Error survives postMessage.
  failed: (error) => {
    const { code = '', message } = error as NodeJS.ErrnoException;
    send({ failed: { code, message } });
  },
});
parentPort?.on('message', (orders: WatchOrder[]) => {
  for (const { dir, kind } of orders) places.place(dir, kind);
});
// Not awaited: ending a thread during top-level await crashes the process (V8 of Node 20).
void places.ready.then(() => send({ ready: true }));
