/** The thread that exports: see export.ts. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { ExportReport } from './export.ts';
import { createOutbox } from './export-outbox.ts';
import { type ExportTask, writeExport } from './export-write.ts';

const run = async (port: MessagePort): Promise<void> => {
  await writeExport(workerData as ExportTask, createOutbox(port));
  port.postMessage({ done: true } satisfies ExportReport);
};

// Not awaited: a thread that is ended while its module waits takes the whole process with it (V8 of Node 20). What goes
// wrong ends the thread as an unhandled rejection.
if (parentPort !== null) void run(parentPort);
