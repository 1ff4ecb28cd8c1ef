import { statSync } from 'node:fs';
import { hasCode } from '../fs/durable.ts';
import { watchPlansFromNow } from '../problems/watch-plans.ts';
import { allItems } from '../reconcile/items.ts';
import { attentionOf, type Store } from '../store.ts';
import { markOf } from './directory-identity.ts';
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
  /** `blind` is not what it was. */
  turned: () => void;
}

// Setting up tens of thousands of watches that are refused again costs seconds: seldom, unless a limit was raised.
const TRY_AGAIN_MS = 600_000;

/** Watches a workspace for as long as the store is open, as well as the system lets it. */
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
    attentionOf(store).watch = watcher.place;
    return watcher;
  };
  const rootMark = (): string => markOf(statSync(layout.root, { throwIfNoEntry: false }));

  let mark = rootMark();
  let watcher = watchNow();
  watchPlansFromNow(store);

  const renew = async (): Promise<void> => {
    await watcher.close();
    refused = undefined;
    watcher = watchNow();
    await watcher.ready;
    if (!warned || refused !== undefined) return;
    warned = false;
    store.report(undefined, 'All files are watched again');
    turned();
  };

  return {
    /** Resolves when what can be watched is. */
    ready: watcher.ready,
    /** Some directories, or all, are not watched: changes in them are found by sweeps alone. */
    get blind(): boolean {
      return refused !== undefined;
    },
    /** To be called before each sweep: sets up everything anew where that is needed, or where it may work now. */
    check: async (): Promise<void> => {
      const now = rootMark();
      // Watches on another directory at the same path would be deaf for good.
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

const SLOWER = 'Changes made by hand are found every 10 s now, and not at once.';

const warning = (error: unknown, count: number): Parameters<Store['report']> => {
  if (hasCode(error, ENDED))
    return [error, `The thread that watches the files has ended. ${SLOWER}`];
  if (!hasCode(error, 'ENOSPC'))
    return [
      undefined,
      `The system lets no more programs watch files. ${SLOWER}${about(watcherLimit())}`,
    ];
  const wanted = watchesWanted(count);
  const what = `The system lets no more directories be watched, and this workspace wants about ${wanted}`;
  return [undefined, `${what}. ${SLOWER}${about(watchLimit(), wanted)}`];
};

const about = (limit: SystemLimit | undefined, wanted?: number): string =>
  limit === undefined
    ? ''
    : ` ${limit.name} is ${limit.value}, for all programs together. ${howToRaise(limit, wanted)}`;
