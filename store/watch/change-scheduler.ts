import { join, posix } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { coalesceReads } from '../base/async.ts';
import { GRACE_MS } from '../base/grace.ts';
import { lockOn } from '../base/locks.ts';
import { gitMark, gitStall, isGitBusy } from '../fs/git-dir.ts';
import { statsAt } from '../fs/plain-path.ts';
import { CASE_FILE } from '../layout.ts';
import { checkItemSidecars } from '../problems/sidecar-problems.ts';
import { watchPlans } from '../problems/watch-plans.ts';
import { discover, lookForAbsent, meet } from '../reconcile/discover.ts';
import { clearUnusable, itemIn, itemsOf } from '../reconcile/items.ts';
import { resolveAbsent, resolveMissing } from '../reconcile/missing.ts';
import { isWorkspaceAway } from '../reconcile/reconcile.ts';
import { sweepWorkspace } from '../reconcile/sweep.ts';
import { isMisread } from '../reconcile/walk.ts';
import { refreshGlobals } from '../settings/globals.ts';
import { activityOf, type Store, watchRequestsOf } from '../store.ts';
import { collectHints, createInterval, type HintPace } from './hints.ts';
import { keepWatching } from './keep-watching.ts';
import { isOnLocalDisk } from './watch-limits.ts';

export interface Pace extends HintPace {
  sweep_ms: number;
  /** The same while nothing happens and all directories of a local file system are watched. */
  quiet_sweep_ms: number;
  /** The interval of sweeps while directories cannot be watched. */
  blind_sweep_ms: number;
}

export const WATCH_PACE: Pace = {
  settle_ms: 25,
  git_ms: 2000,
  long_git_ms: 30_000,
  burst: 4000,
  after_burst_ms: 700,
  sweep_ms: 60_000,
  quiet_sweep_ms: 600_000,
  blind_sweep_ms: 10_000,
};

/** Turns hints into comparisons, and sweeps for changes that no hint reports. */
export const startWatching = (store: Store, globalsChanged: () => void, pace = WATCH_PACE) => {
  let closed = false;
  const isClosed = (): boolean => closed;
  const look = createReader(store, globalsChanged, () => sweepSoon());
  const hints = collectHints(pace, {
    patience: () => patienceWithGit(store, pace),
    settled: (dirs, busy) =>
      look(dirs, busy).catch((error) => store.report(error, 'reading a change')),
    overflowed: () => sweepSoon(),
  });
  const watching = keepWatching(store, {
    hint: hints.hint,
    lost: hints.lost,
    turned: () => regular.restart(),
  });
  const gitWorks = (since: number): boolean =>
    !closed && performance.now() - since < patienceWithGit(store, pace);
  const rest = restOf(store, hints, pace);
  const sweepNow = coalesceReads(async () => {
    rest.sweeps();
    await sweepBesideGit(store, { ...pace, gitWorks, isClosed, check: watching.check });
    if (!closed) globalsChanged();
  });
  const reported = (work: Promise<void>): void =>
    void work.catch((error) => store.report(error, 'comparing the workspace'));
  const sweepSoon = (): void => reported(sweepNow());
  const regular = createInterval(
    () => (watching.blind ? pace.blind_sweep_ms : pace.sweep_ms),
    (slept) => reported(slept || watching.blind || !rest.isQuiet() ? sweepNow() : watching.check()),
  );
  watchRequestsOf(store).scheduleMissingDecision = decideLater(store, {
    isClosed,
    gitWorks: (since) => gitWorks(Math.max(since, hints.last())),
  });
  lookAgainBy(store, hints.hint);
  return {
    /** Resolves when the watcher is set up and earlier changes have been compared. */
    ready: handledLater(watching.ready.then(sweepNow)),
    /** Compares the whole workspace now. Calls made meanwhile share the next comparison. */
    sweepNow,
    /** False while only sweeps find changes. */
    get watching(): boolean {
      return !watching.blind;
    },
    close: async (): Promise<void> => {
      closed = true;
      hints.close();
      regular.stop();
      await watching.close();
    },
  };
};

// A git that makes no progress may have died and left its lock.
const patienceWithGit = ({ layout }: Store, { git_ms, long_git_ms }: Pace): number => {
  const stall = gitStall(layout);
  if (stall === undefined) return 0;
  return stall < git_ms ? long_git_ms : git_ms;
};

/** Whether a sweep can wait, because nothing happened since the last one. Watchers lose events in bursts, of which a hint is seen. */
const restOf = (store: Store, hints: { last(): number }, { quiet_sweep_ms }: Pace) => {
  const isLocal = isOnLocalDisk(store.layout.root);
  let [at, activity] = [Number.NEGATIVE_INFINITY, -1];
  return {
    /** A sweep begins. */
    sweeps: (): void => {
      [at, activity] = [performance.now(), activityOf(store).count];
    },
    isQuiet: (): boolean =>
      isLocal &&
      activity === activityOf(store).count &&
      hints.last() < at &&
      performance.now() - at < quiet_sweep_ms,
  };
};

// A rejection that is awaited later must not end the daemon as unhandled.
const handledLater = <T>(promise: Promise<T>): Promise<T> => {
  promise.catch(() => undefined);
  return promise;
};

export type WorkspaceWatch = ReturnType<typeof startWatching>;

interface Sweep extends Pick<Pace, 'settle_ms'> {
  /** Whether git is changing files that began to change after this time. */
  gitWorks: (since: number) => boolean;
  isClosed: () => boolean;
  /** Called before each try. */
  check: () => Promise<void>;
}

// Again if git changed files meanwhile.
const sweepBesideGit = async (
  store: Store,
  { settle_ms, gitWorks, isClosed, check }: Sweep,
): Promise<void> => {
  const since = performance.now();
  do {
    while (gitWorks(since)) await delay(settle_ms);
    if (isClosed()) return;
    await check();
  } while (!(await sweepWorkspace(store, () => gitWorks(since))));
  await whenCompared(store);
};

const whenCompared = async (store: Store): Promise<void> => {
  await resolveAbsent(store);
  watchPlans(store);
};

const lookAgainBy = (store: Store, hint: (path: string) => void): void => {
  watchRequestsOf(store).scheduleReread = (path) => {
    setTimeout(() => hint(path), GRACE_MS + 10).unref();
  };
};

// Settings and global webhook registrations.
const GLOBAL = /^(workspace\.md$|webhooks(\/|$))/;
// Changes here cause no events, but autocommit commits them.
const KEPT = /^(memory|imports)(\/|$)/;

// Comparing more than these at once would delay requests; a sweep yields to requests and takes hardly longer.
const MANY = 200;

const createReader = (store: Store, globalsChanged: () => void, sweepSoon: () => void) => {
  const { layout } = store;
  let mark = gitMark(layout);
  const compare = async (dir: string, wasBusy: boolean): Promise<void> => {
    const item = itemIn(store, dir);
    if (item !== undefined) await store.locks.whenFree(lockOn.item(item.id));
    // git may have begun since.
    if (!wasBusy && isGitBusy(layout)) watchRequestsOf(store).scheduleReread?.(dir);
    else await compareHint(store, dir);
  };
  return async (dirs: string[], busy: boolean): Promise<void> => {
    const now = gitMark(layout);
    if (now !== mark) sweepSoon();
    mark = now;
    const top = dirs.some((dir) => dir === '' || GLOBAL.test(dir));
    const changed = top && (await refreshGlobals(store, true));
    if (changed || dirs.some((dir) => KEPT.test(dir))) globalsChanged();
    const places = placesOf(store, dirs);
    if (places.size > MANY) sweepSoon();
    else await Promise.all([...places].map((dir) => compare(dir, busy)));
  };
};

/** The directories to compare for hinted paths: the nearest known Work item above each, or the path itself. */
const placesOf = (store: Store, dirs: string[]): Set<string> => {
  const places = new Set<string>();
  for (const dir of dirs) {
    let place = dir;
    while (place !== '.' && itemIn(store, place) === undefined) place = posix.dirname(place);
    if (place !== '.') places.add(place);
    else if (dir === 'cases' || dir.startsWith('cases/')) places.add(directoryOf(dir));
  }
  return places;
};

// A directory with a case.md is a Work item.
const directoryOf = (path: string): string =>
  posix.basename(path) === CASE_FILE ? posix.dirname(path) : path;

/** Compares a hinted path: a Work item, a folder of Work items, or those that were below it. */
export const compareHint = async (store: Store, dir: string): Promise<void> => {
  if (itemIn(store, dir) !== undefined) {
    watchRequestsOf(store).watch(dir, 'item');
    await meet(store, dir);
    const item = itemIn(store, dir);
    return item && checkItemSidecars(store, item);
  }
  const stats = statsAt(join(store.layout.root, dir));
  if (stats?.isDirectory() === true) return discover(store, dir);
  // Links and misread names are found in the listing of the folder above.
  if (dir !== 'cases' && (stats?.isSymbolicLink() === true || isMisread(dir)))
    await discover(store, posix.dirname(dir));
  else clearBelow(store, dir);
  await lookForAbsent(store, dir);
};

const clearBelow = (store: Store, dir: string): void => {
  for (const stranger of itemsOf(store).strangers)
    if (`${stranger}/`.startsWith(`${dir}/`)) clearUnusable(store, stranger);
};

// The longest wait for a Work item that git is moving, or a workspace that comes back piece by piece.
const LONGEST_ABSENCE_MS = 30_000;

const isRecent = (since: number | undefined): boolean =>
  since !== undefined && performance.now() - since < LONGEST_ABSENCE_MS;

interface Deciding {
  isClosed: () => boolean;
  gitWorks: (since: number) => boolean;
}

// One decision for all Work items that vanish together. While git runs, a directory may be missing only for a moment.
const decideLater = (store: Store, { isClosed, gitWorks }: Deciding): (() => void) => {
  let timer: NodeJS.Timeout | undefined;
  let first: number | undefined;
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(decide, GRACE_MS + 10).unref();
  };
  const decide = (): void => {
    if (isClosed()) return;
    const since = first ?? 0;
    const waits = gitWorks(since) && isRecent(since);
    if (waits || (!isWorkspaceAway(store) && isRecent(itemsOf(store).away_at))) {
      later();
      return;
    }
    first = undefined;
    resolveMissing(store).catch((error) => store.report(error, 'looking for moved Work items'));
  };
  return () => {
    first ??= performance.now();
    later();
  };
};
