import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { markOf } from './directory-identity.ts';

export interface Ears {
  /** Something happened at this path. */
  tell: (path: string) => void;
  failed: (error: unknown) => void;
}

interface Watch {
  /** Of the directory that is watched; see markOf. */
  mark: string;
  /** Undefined where the system refused to watch it. */
  watcher: FSWatcher | undefined;
}

/**
 * Watches single directories at the least cost there is. `begin` answers true when a watch was set on what stands there
 * now; one on what stood there before is given back.
 */
export const plainWatches = ({ tell, failed }: Ears) => {
  const watches = new Map<string, Watch>();
  let full = false;

  const refresh = (path: string): boolean => {
    const known = watches.get(path);
    const mark = markOf(statsAt(path));
    if (known?.mark === mark && known.watcher !== undefined) return false;
    known?.watcher?.close();
    watches.delete(path);
    if (mark === '' || full) return false;
    const watcher = attempt(path, known?.mark !== mark);
    watches.set(path, { mark, watcher });
    return watcher !== undefined;
  };

  // Told once: a directory that may not be read stays so, and is tried again whenever somebody names it.
  const attempt = (path: string, first: boolean): FSWatcher | undefined => {
    try {
      return watch(path, (event, name) => {
        tell(join(path, name ?? ''));
        // The directory itself may be what was moved or removed.
        if (event === 'rename') refresh(path);
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
