import { basename } from 'node:path';
import { type ExportRun, startExport } from '../../../store/archive/export.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound, ServiceError } from '../../errors.ts';

/** A zip archive of the workspace or a Work item, which is created while it is read. */
interface Export {
  filename: string;
  type: 'application/zip';
  /** Starts the export; throws `too_many_exports`. Stops it when `signal` aborts. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface Exporter {
  export(): Export;
  /** Exports one Work item. Throws `not_found`. */
  exportCase(id: string): Export;
  /** Stops all exports. */
  close(): Promise<void>;
}

// Each export has a thread of its own, and reads every file of the workspace.
const MOST = 2;

export const createExporter = (store: Store): Exporter => {
  const running = new Set<ExportRun>();
  const open = async function* (signal: AbortSignal, dir?: string): AsyncGenerator<Uint8Array> {
    signal.throwIfAborted();
    if (running.size >= MOST) throw tooMany();
    const run = startExport(store.layout, store.clock(), dir);
    running.add(run);
    void run.closed.then(() => running.delete(run));
    signal.addEventListener('abort', () => run.close());
    yield* run.chunks();
  };
  const archive = (named: string, dir?: string): Export => ({
    filename: fileName(named, store.clock()),
    type: 'application/zip',
    open: (signal) => open(signal, dir),
  });
  return {
    export: () => archive(store.layout.root),
    exportCase: (id) => {
      const dir = orNotFound(itemOf(store, id)?.dir, 'Work item', id);
      return archive(dir, dir);
    },
    close: async () => {
      await Promise.all([...running].map((run) => run.close()));
    },
  };
};

const tooMany = (): ServiceError =>
  new ServiceError(
    'too_many_exports',
    `${MOST} exports are running. Try again when one of them has ended.`,
    { headers: { 'retry-after': '5' } },
  );

const fileName = (dir: string, now: Date): string =>
  `dossier-${basename(dir)}-${now.toISOString().slice(0, 10)}.zip`;
