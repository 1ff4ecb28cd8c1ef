import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../base/attempt.ts';
import { directoryIdentity, statsAt } from '../fs/plain-path.ts';

export interface WatchListener {
  /** Something changed at this path. */
  tell: (path: string) => void;
  failed: (error: unknown) => void;
}

interface Watch {
  /** The identity of the watched directory. */
  mark: string;
  /** The only file that counts, if not all do. */
  only: string | undefined;
  /** Undefined if the system refused to watch it. */
  watcher: FSWatcher | undefined;
}

/**
 * Watches single directories at the lowest cost, or one file in them. `begin` returns true if it set a watch; a watch on a
 * directory that was replaced is closed.
 */
export const createPlainWatches = ({ tell, failed }: WatchListener) => {
  const watches = new Map<string, Watch>();
  let full = false;

  const refresh = (path: string, only?: string): boolean => {
    const known = watches.get(path);
    const mark = directoryIdentity(statsAt(path));
    if (known?.mark === mark && known.only === only && known.watcher !== undefined) return false;
    known?.watcher?.close();
    watches.delete(path);
    if (mark === '' || full) return false;
    const watcher = attempt(path, known?.mark !== mark, only);
    watches.set(path, { mark, only, watcher });
    return watcher !== undefined;
  };

  // Reported once for each directory; later calls try again without a report.
  const attempt = (path: string, first: boolean, only?: string): FSWatcher | undefined => {
    try {
      return watch(path, (event, name) => {
        if (only === undefined || name === null || name === only) tell(join(path, name ?? ''));
        // The directory itself may have been moved or removed.
        if (event === 'rename') refresh(path, only);
      }).on('error', failed);
    } catch (error) {
      full = hasCode(error, 'ENOSPC', 'EMFILE', 'ENFILE');
      if (first && !hasCode(error, 'ENOENT')) failed(error);
      return undefined;
    }
  };

  return {
    begin: refresh,
    end: (path: string): void => {
      watches.get(path)?.watcher?.close();
      watches.delete(path);
    },
  };
};
