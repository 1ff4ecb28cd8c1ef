import { messageOf } from '../../../store/base/message-of.ts';
import { sharedRead } from '../../../store/base/shared-read.ts';
import { whenChanged } from '../../../store/reconcile/items.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithLog } from '../../log.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import {
  autocommitChanges,
  type CommittedPictures,
  type Due,
  forgetUncommitted,
  tellAll,
} from './commit-changes.ts';

interface Autocommit {
  /** From now on each change is committed while the setting `autocommit` is true; first what is uncommitted already. */
  start(): void;
  /** Settings, webhooks, or anything else that is no Work item's may have changed. */
  globalsChanged(): void;
  /** Waits for a commit that is being made. What is not committed yet is found by the next start. */
  close(): Promise<void>;
}

interface AutocommitPace {
  /** From the last change of several to their commit, in milliseconds. */
  settle_ms: number;
  /** A change waits no longer than this, however many follow. */
  longest_ms: number;
  /** When git is busy: the first pause, which doubles, and the longest. */
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
 * Keeps the workspace's git history, if the settings want it: a commit for each settled change, on the branch that is
 * checked out. Leaves alone what the operator has staged, and waits while a merge, a rebase or the like is under way.
 * Runs no hook of the repository.
 */
export const createAutocommit = (
  service: WithGit & WithLog & WithStore,
  pace = PACE,
): Autocommit => {
  const { store, log } = service;
  let told: CommittedPictures = new Map();
  let due = nothing();
  const tell = twiceInARow((found) => log.warn(found, 'Changes are not committed for now'));
  let on = false;
  let closed = false;

  const commit = sharedRead(async () => {
    const taken = due;
    due = nothing();
    const found = await attempt(service, told, taken);
    tell(found);
    if (found === undefined) return rhythm.calm();
    due = { ids: new Set([...taken.ids, ...due.ids]), all: taken.all || due.all };
    if (on) rhythm.later();
  });
  let making: Promise<void> = Promise.resolve();
  const rhythm = createRhythm(pace, () => {
    making = commit();
  });
  const caseChanged = (id: string): void => {
    if (!on) return;
    due.ids.add(id);
    rhythm.soon();
  };
  const globalsChanged = (): void => {
    // A watcher may still have something to say when this is over.
    if (closed) return;
    const wanted = settingsOf(store).autocommit === true;
    if (wanted && !on) told = tellAll(store);
    if (on && !wanted) forgetUncommitted(store);
    on = wanted;
    due.all = on;
    if (on) rhythm.soon();
  };
  return {
    start: () => {
      whenChanged(store, caseChanged);
      globalsChanged();
    },
    globalsChanged,
    close: async () => {
      closed = true;
      on = false;
      rhythm.stop();
      await making;
    },
  };
};

const nothing = () => ({ ids: new Set<string>(), all: false });

interface Obstacle {
  why: string;
  err?: unknown;
}

const attempt = async (
  service: WithGit & WithStore,
  told: CommittedPictures,
  due: Due,
): Promise<Obstacle | undefined> => {
  try {
    const why = await autocommitChanges(service, told, due);
    return why === undefined ? undefined : { why };
  } catch (error) {
    return { why: messageOf(error), err: error };
  }
};

// What is over at the next attempt, such as a `git status` at this moment, is not worth a word; what stays, one.
const twiceInARow = (tell: (found: Obstacle) => void) => {
  let before: string | undefined;
  let told: string | undefined;
  return (found: Obstacle | undefined): void => {
    if (found !== undefined && found.why === before && found.why !== told) tell(found);
    told = found?.why === before ? before : undefined;
    before = found?.why;
  };
};

/** When to try: soon after a change, and after a failure later and later. */
const createRhythm = (pace: AutocommitPace, run: () => void) => {
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
    later: () => {
      wake(pause);
      pause = Math.min(2 * pause, pace.longest_retry_ms);
    },
    calm: () => {
      pause = pace.retry_ms;
    },
    stop: () => clearTimeout(timer),
  };
};
