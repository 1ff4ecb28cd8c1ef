import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Layout } from '../layout.ts';
import type { ExportTask } from './export-write.ts';

/** A message of the exporting thread: a piece of the archive, or its end. */
export type ExportReport = Uint8Array | { done: true };

// Beside this file when compiled, and beside the chunk that this file is in when bundled.
const WORKER = new URL('./export-worker.js', import.meta.url);
// Each entry leaves dozens of small buffers; frequent collection saves memory and costs little time.
const YOUNG_MB = 8;

/**
 * Exports the workspace, or its directory `dir`, in a thread of its own, so that reading, hashing and packing tens of
 * thousands of files does not delay requests. Writers are not blocked: each file is exported as it was at one moment. The
 * thread stays only a little ahead of its reader.
 */
export const startExport = ({ root, tmp }: Layout, generated_at: Date, dir?: string) => {
  const workerData: ExportTask = {
    root,
    tmp,
    generated_at: generated_at.toISOString(),
    ...(dir !== undefined && { dir }),
  };
  const worker = new Worker(WORKER, {
    workerData,
    env: {},
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  // `chunks` throws errors to its reader. Without a listener, an error after that would end the process.
  worker.on('error', () => undefined);
  const messages = on(worker, 'message', { close: ['exit'] });
  const close = async (): Promise<void> => {
    await worker.terminate();
  };
  return {
    /** Ends the thread. */
    close,
    /** Resolves when the thread has ended and its files are closed. */
    closed: new Promise<unknown>((resolve) => worker.once('exit', resolve)),
    /** The archive in pieces. Throws if it cannot be completed, or is closed early. */
    chunks: async function* (): AsyncGenerator<Uint8Array> {
      try {
        for await (const [report] of messages as AsyncIterable<[ExportReport]>) {
          if ('done' in report) return;
          yield report;
          worker.postMessage('taken');
        }
        throw new Error('The export was aborted');
      } finally {
        await close();
      }
    },
  };
};
export type ExportRun = ReturnType<typeof startExport>;
