import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Layout } from '../layout.ts';

/** A Work item's directory, any other directory, one of which only session.md is watched, or one to stop watching. */
export type PlaceKind = 'item' | 'folder' | 'record' | 'none';

export interface WatchEvents {
  /**
   * Something changed at this path, relative to the workspace. A hint says only where to read: on Linux, every watcher silently
   * drops events in a burst.
   */
  hint: (path: string) => void;
  /** Events may have been lost, or the system allows no more watches. */
  failed: (error: unknown) => void;
}

/** The input of the watching thread, and the messages to and from it. */
export interface WatchTask {
  root: string;
  items: string[];
  /** The number of Work items that chokidar watches; see watch-places.ts. */
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

/** The code of the error after which nothing is watched any more. */
export const ENDED = 'watching_ended';

// A directory costs chokidar 10 KB and 0.2 ms, and a plain watch a tenth of that, so that chokidar watches only a part of a
// large workspace.
const MOST = 500;

// Beside this file when compiled, and beside the chunk that this file is in when bundled.
const WORKER = new URL('./watch-worker.js', import.meta.url);

// Objects of the setup are short-lived or permanent. By default, V8 would grow the young generation by tens of megabytes and
// never shrink it.
const SMALL: ResourceLimits = { maxYoungGenerationSizeMb: 4 };

/**
 * Watches the directories of a workspace in a thread of its own. Setting up thousands of watches takes seconds and much
 * memory, and the system's queue of events must be emptied while the daemon is busy.
 */
export const watchWorkspace = (
  { root }: Layout,
  items: string[],
  { hint, failed }: WatchEvents,
  most = MOST,
) => {
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
    // Not during `close`, which must keep the process alive until the thread has ended.
    ready: ready.then(() => {
      if (!closed) worker.unref();
    }),
    /** Watches a place, if it is not watched or its directory was replaced. */
    place: (dir: string, kind: PlaceKind): void => orders({ dir, kind }),
    close: async (): Promise<void> => {
      closed = true;
      // Otherwise the process could end before the thread.
      worker.ref();
      await worker.terminate();
    },
  };
};

export type Watcher = ReturnType<typeof watchWorkspace>;

// A sweep orders every place, so that orders are sent together.
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
