import { statSync } from 'node:fs';
import { hasCode } from '../base/attempt.ts';
import { directoryIdentity } from '../fs/plain-path.ts';
import { watchPlanEvents } from '../problems/watch-plans.ts';
import { allItems } from '../reconcile/items.ts';
import { type Store, watchRequestsOf } from '../store.ts';
import { ENDED, type Watcher, watchWorkspace } from './watch.ts';
import {
  howToRaise,
  type SystemLimit,
  watcherLimit,
  watchesWanted,
  watchLimit,
} from './watch-limits.ts';

interface WatchingEvents {
  hint: (path: string) => void;
  /** Hints may have been lost. */
  lost: () => void;
  /** `blind` changed. */
  turned: () => void;
}

// Setting up tens of thousands of watches takes seconds, so retries are rare unless a limit was raised.
const TRY_AGAIN_MS = 600_000;

/** Watches a workspace while the store is open, as far as the system allows. */
export const keepWatching = (store: Store, { hint, lost, turned }: WatchingEvents) => {
  const { layout } = store;
  let refused: { at: number; limits: string } | undefined;
  let warned = false;

  const failed = (error: unknown): void => {
    if (refused === undefined && hasCode(error, 'ENOSPC', 'EMFILE', 'ENFILE', ENDED)) {
      refused = { at: performance.now(), limits: limitsNow() };
      if (!warned) store.report(...warning(error, allItems(store).length));
      warned = true;
      turned();
    }
    lost();
  };

  const watchNow = (): Watcher => {
    const dirs = allItems(store).map(({ dir }) => dir);
    const watcher = watchWorkspace(layout, dirs, { hint, failed });
    watchRequestsOf(store).watch = watcher.place;
    return watcher;
  };
  const rootMark = (): string =>
    directoryIdentity(statSync(layout.root, { throwIfNoEntry: false }));

  let mark = rootMark();
  let watcher = watchNow();
  watchPlanEvents(store);

  const renew = async (): Promise<void> => {
    await watcher.close();
    refused = undefined;
    watcher = watchNow();
    await watcher.ready;
    if (!warned || refused !== undefined) return;
    warned = false;
    store.report(undefined, 'All directories are watched again');
    turned();
  };

  return {
    /** Resolves when all directories that can be watched are. */
    ready: watcher.ready,
    /** Whether some directories are not watched, so that only sweeps find changes in them. */
    get blind(): boolean {
      return refused !== undefined;
    },
    /** Call before each sweep: sets up the watches again if needed, or if it may succeed now. */
    check: async (): Promise<void> => {
      const now = rootMark();
      // Watches do not follow to another directory at the same path.
      const isOther = now !== '' && now !== mark;
      if (now !== '') mark = now;
      if (isOther || (refused !== undefined && isWorthATry(refused))) await renew();
    },
    close: (): Promise<void> => watcher.close(),
  };
};

const limitsNow = (): string => JSON.stringify([watchLimit(), watcherLimit()]);

const isWorthATry = ({ at, limits }: { at: number; limits: string }): boolean =>
  performance.now() - at > TRY_AGAIN_MS || limitsNow() !== limits;

const SLOWER = 'Changes made by hand are now found within 10 s instead of at once.';

const warning = (error: unknown, count: number): Parameters<Store['report']> => {
  if (hasCode(error, ENDED))
    return [error, `The thread that watches the workspace has ended. ${SLOWER}`];
  if (!hasCode(error, 'ENOSPC'))
    return [
      undefined,
      `The system allows no more programs to watch files. ${SLOWER}${about(watcherLimit())}`,
    ];
  const wanted = watchesWanted(count);
  const what = `The system allows no more directories to be watched; this workspace needs about ${wanted}`;
  return [undefined, `${what}. ${SLOWER}${about(watchLimit(), wanted)}`];
};

const about = (limit: SystemLimit | undefined, wanted?: number): string =>
  limit === undefined
    ? ''
    : ` ${limit.name} is ${limit.value}, for all programs together. ${howToRaise(limit, wanted)}`;
