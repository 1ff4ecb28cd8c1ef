/** The thread that exports: see export.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ExportReport } from './export.ts';
import { createOutbox } from './export-outbox.ts';
import { type ExportTask, writeExport } from './export-write.ts';

if (parentPort !== null) {
  await writeExport(workerData as ExportTask, createOutbox(parentPort));
  parentPort.postMessage({ done: true } satisfies ExportReport);
}
