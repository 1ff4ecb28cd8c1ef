import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { atEnd } from './at-end.ts';

/** A receiver in a thread of its own, which answers while this one does nothing else. */
export interface ReceiverThread {
  url: string;
  /** It answers so many more with 204, and holds those after them. */
  allow(more: number): void;
  /** Holds this thread until so many came; fails after two minutes. */
  blockUntil(count: number): void;
  /** How many came. */
  count(): number;
  /** The ids of the deliveries that came. */
  ids(): Promise<string[]>;
}

const WORKER = new URL('./receiver-worker.js', import.meta.url);
const PATIENCE_MS = 120_000;

export const openReceiverThread = async (t: TestContext): Promise<ReceiverThread> => {
  const came = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(WORKER, { workerData: came.buffer });
  atEnd(t, () => worker.terminate());
  const [url] = (await once(worker, 'message')) as [string];
  const count = (): number => Atomics.load(came, 0);
  return {
    url,
    count,
    allow: (more) => worker.postMessage(more),
    blockUntil: (wanted) => {
      const end = Date.now() + PATIENCE_MS;
      for (let now = count(); now < wanted; now = count()) {
        Atomics.wait(came, 0, now, PATIENCE_MS);
        assert.ok(Date.now() < end, `${count()} of ${wanted} deliveries came`);
      }
    },
    ids: async () => {
      const told = once(worker, 'message');
      worker.postMessage('ids');
      const [ids] = (await told) as [string[]];
      return ids;
    },
  };
};
