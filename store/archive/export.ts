import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Layout } from '../layout.ts';
import type { ExportTask } from './export-write.ts';

/** What the exporting thread tells: a piece of the archive, or that this was all of it. */
export type ExportReport = Uint8Array | { done: true };

// Beside this file when compiled, and beside the chunk that this file is in when bundled.
const WORKER = new URL('./export-worker.js', import.meta.url);
// Each entry leaves dozens of tiny buffers behind: cleared away often, they take less memory and hardly more time.
const YOUNG_MB = 8;

/**
 * Archives the workspace's files from a thread of its own, so that reading, hashing and packing tens of thousands of
 * files hold up nobody. Writers are not held up either: each file is in it as it was at one moment. With `dir`, relative to
 * the workspace, what is in that directory alone. It gets no further than a little ahead of whoever reads it.
 */
export const startExport = ({ root, tmp }: Layout, generated_at: Date, dir?: string) => {
  const workerData: ExportTask = {
    ...{ root, tmp, generated_at: generated_at.toISOString() },
    ...(dir !== undefined && { dir }),
  };
  const worker = new Worker(WORKER, {
    workerData,
    env: {},
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  // Whoever reads is told. Without this, an error that comes when nobody reads any more would end the process.
  worker.on('error', () => undefined);
  const messages = on(worker, 'message', { close: ['exit'] });
  const close = async (): Promise<void> => {
    await worker.terminate();
  };
  return {
    /** Ends the thread, wherever it is. */
    close,
    /** Resolves when the thread has ended, and with it all that it held is free. */
    closed: new Promise<unknown>((resolve) => worker.once('exit', resolve)),
    /** Throws when the archive cannot be made, or is closed, before its end. */
    chunks: async function* (): AsyncGenerator<Uint8Array> {
      try {
        for await (const [report] of messages as AsyncIterable<[ExportReport]>) {
          if ('done' in report) return;
          yield report;
          worker.postMessage('taken');
        }
        throw new Error('The export was given up before its end');
      } finally {
        await close();
      }
    },
  };
};
export type ExportRun = ReturnType<typeof startExport>;
