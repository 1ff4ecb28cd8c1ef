import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Layout } from '../layout.ts';

/** A Work item's directory, a folder of them or another one; or one that nobody needs to watch any more. */
export type PlaceKind = 'item' | 'folder' | 'none';

/**
 * Paths at which something happened, relative to the workspace. A hint is never the truth: it only says where to look.
 * Directories are watched, not files; every watcher on Linux drops events in a burst and none says so.
 */
export interface Watcher {
  readonly ready: Promise<void>;
  /** Watches a place that is not watched yet, and anew one where another directory stands now. */
  place(dir: string, kind: PlaceKind): void;
  close(): Promise<void>;
}

export interface WatchEvents {
  hint: (path: string) => void;
  /** Events may have been lost, or there are no watches left. */
  failed: (error: unknown) => void;
}

/** What the watching thread is given, told, and tells. */
export interface WatchTask {
  root: string;
  items: string[];
  /** So many of the Work items are chokidar's; see watch-places.ts. */
  most: number;
}
export interface WatchOrder {
  dir: string;
  kind: PlaceKind;
}
export interface WatchReport {
  ready?: true;
  hints?: string[];
  failed?: { code: string; message: string };
}

/** The code of the error that tells that nothing is watched any more. */
export const ENDED = 'watching_ended';

// Each directory costs chokidar 10 KB and 0.2 ms, a plain watch a tenth of that: a large workspace can afford chokidar for
// some of its Work items only.
const MOST = 500;

// Beside this file when compiled, and beside the chunk that this file is in when bundled.
const WORKER = new URL('./watch-worker.js', import.meta.url);

// What the thread makes while it sets up is soon garbage or stays for good. Left to itself, V8 makes room for tens of
// megabytes of it and never gives that back.
const SMALL: ResourceLimits = { maxYoungGenerationSizeMb: 4 };

/**
 * Watches a workspace from a thread of its own. Setting up thousands of watches takes seconds of work and leaves much
 * behind in memory; and while the daemon is busy, somebody has to empty the system's queue of events.
 */
export const watchWorkspace = (
  { root }: Layout,
  items: string[],
  { hint, failed }: WatchEvents,
  most = MOST,
): Watcher => {
  const workerData: WatchTask = { root, items, most };
  const worker = new Worker(WORKER, { workerData, env: {}, execArgv: [], resourceLimits: SMALL });
  const orders = ordersTo(worker);
  let closed = false;
  const ready = new Promise<void>((resolve) => {
    let crash: unknown;
    worker.once('exit', () => {
      resolve();
      if (!closed) failed(Object.assign(new Error(ENDED, { cause: crash }), { code: ENDED }));
    });
    worker.on('error', (error) => {
      crash = error;
    });
    worker.on('message', (report: WatchReport) => {
      for (const path of report.hints ?? []) hint(path);
      if (report.failed !== undefined) failed(Object.assign(new Error(), report.failed));
      if (report.ready === true) resolve();
    });
  });
  return {
    // Not while it is being ended: waiting for that is what keeps the process from ending first.
    ready: ready.then(() => {
      if (!closed) worker.unref();
    }),
    place: (dir, kind) => orders({ dir, kind }),
    close: async () => {
      closed = true;
      // Else the process could end before the thread has, and before whatever waits for this.
      worker.ref();
      await worker.terminate();
    },
  };
};

// A sweep names every place there is: they go over together.
const ordersTo = (worker: Worker): ((order: WatchOrder) => void) => {
  let waiting: WatchOrder[] = [];
  return (order) => {
    if (waiting.length === 0) {
      setImmediate(() => {
        worker.postMessage(waiting);
        waiting = [];
      });
    }
    waiting.push(order);
  };
};
