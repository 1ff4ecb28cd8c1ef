/** The thread that exports: see export.ts. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { ExportReport } from './export.ts';
import { createOutbox } from './export-outbox.ts';
import { type ExportTask, writeExport } from './export-write.ts';

const run = async (port: MessagePort): Promise<void> => {
  await writeExport(workerData as ExportTask, createOutbox(port));
  port.postMessage({ done: true } satisfies ExportReport);
};

// Not awaited: ending a thread during top-level await crashes the process (V8 of Node 20). An error ends the thread as an
// unhandled rejection.
if (parentPort !== null) void run(parentPort);
