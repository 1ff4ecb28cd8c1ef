import { coalesceReads } from '../../../store/base/async.ts';
import { messageOf } from '../../../store/base/attempt.ts';
import { onItemChanged } from '../../../store/reconcile/items.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithLog } from '../../log.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import {
  autocommitChanges,
  type ChangedItems,
  type CommittedSnapshots,
  clearUncommitted,
  currentSnapshots,
} from './commit-changes.ts';

interface Autocommit {
  /** Starts committing changes while the setting `autocommit` is true, beginning with those that are uncommitted. */
  start(): void;
  /** Call after settings, webhooks or other files outside of Work items may have changed. */
  globalsChanged(): void;
  /** Waits for a commit in progress. The next start commits what is left. */
  close(): Promise<void>;
}

interface AutocommitPace {
  /** Milliseconds without changes before a commit. */
  settle_ms: number;
  /** The longest time that a change waits for its commit. */
  longest_ms: number;
  /** The first pause after a failure, which doubles each time up to `longest_retry_ms`. */
  retry_ms: number;
  longest_retry_ms: number;
}

const PACE: AutocommitPace = {
  settle_ms: 200,
  longest_ms: 2000,
  retry_ms: 2000,
  longest_retry_ms: 30_000,
};

/**
 * Commits changes of the workspace if the setting `autocommit` is true: one commit for each settled change, on the branch
 * that is checked out. Leaves staged files alone, waits during a merge or rebase, and runs no hooks.
 */
export const createAutocommit = (
  service: WithGit & WithLog & WithStore,
  pace = PACE,
): Autocommit => {
  const { store, log } = service;
  let told: CommittedSnapshots = new Map();
  let due = noChanges();
  const warn = onSecondFailure((found) => log.warn(found, 'autocommit failed; retrying'));
  let on = false;
  let closed = false;

  const commit = coalesceReads(async () => {
    const taken = due;
    due = noChanges();
    const found = await tryCommit(service, told, taken);
    warn(found);
    if (found === undefined) return timer.reset();
    due = { ids: new Set([...taken.ids, ...due.ids]), all: taken.all || due.all };
    if (on) timer.retry();
  });
  let making: Promise<void> = Promise.resolve();
  const timer = createRetryTimer(pace, () => {
    making = commit();
  });
  const caseChanged = (id: string): void => {
    if (!on) return;
    due.ids.add(id);
    timer.soon();
  };
  const globalsChanged = (): void => {
    // A watcher may still report changes after `close`.
    if (closed) return;
    const wanted = settingsOf(store).autocommit === true;
    if (wanted && !on) told = currentSnapshots(store);
    if (on && !wanted) clearUncommitted(store);
    on = wanted;
    due.all = on;
    if (on) timer.soon();
  };
  return {
    start: () => {
      onItemChanged(store, caseChanged);
      globalsChanged();
    },
    globalsChanged,
    close: async () => {
      closed = true;
      on = false;
      timer.stop();
      await making;
    },
  };
};

const noChanges = () => ({ ids: new Set<string>(), all: false });

interface Obstacle {
  why: string;
  err?: unknown;
}

const tryCommit = async (
  service: WithGit & WithStore,
  told: CommittedSnapshots,
  due: ChangedItems,
): Promise<Obstacle | undefined> => {
  try {
    const why = await autocommitChanges(service, told, due);
    return why === undefined ? undefined : { why };
  } catch (error) {
    return { why: messageOf(error), err: error };
  }
};

// Warns once when an attempt fails for the same reason twice in a row. Single failures, such as a concurrent `git status`,
// are not logged.
const onSecondFailure = (warn: (found: Obstacle) => void) => {
  let before: string | undefined;
  let warned: string | undefined;
  return (found: Obstacle | undefined): void => {
    if (found !== undefined && found.why === before && found.why !== warned) warn(found);
    warned = found?.why === before ? before : undefined;
    before = found?.why;
  };
};

/** Runs `run` soon after a change, and with growing pauses after failures. */
const createRetryTimer = (pace: AutocommitPace, run: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let pause = pace.retry_ms;
  const wake = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      since = undefined;
      run();
    }, ms);
  };
  return {
    soon: () => {
      since ??= performance.now();
      wake(Math.max(0, Math.min(pace.settle_ms, since + pace.longest_ms - performance.now())));
    },
    retry: () => {
      wake(pause);
      pause = Math.min(2 * pause, pace.longest_retry_ms);
    },
    reset: () => {
      pause = pace.retry_ms;
    },
    stop: () => clearTimeout(timer),
  };
};
