import { lockOn } from './base/locks.ts';
import { createLocks } from './base/mutex.ts';
import { sharedRead } from './base/shared-read.ts';
import { pruneUndo } from './cases/undo.ts';
import { noteNewLink } from './codehost/link-index.ts';
import { needStateDir } from './consent/state-dir.ts';
import { journalMarkFile } from './consent/workspace-id.ts';
import { createProblems } from './front-matter/problems.ts';
import type { MatterChanges } from './front-matter/splice.ts';
import { clearLeftovers, makeDirectories } from './fs/directories.ts';
import { gitIsDone } from './fs/git-work.ts';
import { makeSyncedDirectory } from './fs/make-directory.ts';
import { followPlace } from './fs/whereabouts.ts';
import { gateOf } from './held/held-file.ts';
import { problemsOfJournal } from './journal/damage.ts';
import { openJournal } from './journal/journal.ts';
import { type JournalMark, openMark } from './journal/mark.ts';
import { type Layout, layoutOf } from './layout.ts';
import { lookAtWaiting } from './pending/pending.ts';
import { lookCloser } from './problems/sidecar-problems.ts';
import { sweepTranscripts } from './problems/sweep-transcripts.ts';
import type { Item } from './reconcile/item.ts';
import { itemsOf, KNOWN, notice } from './reconcile/items.ts';
import { reviveAbsent } from './reconcile/missing.ts';
import { JOURNAL, tellProblems } from './reconcile/problem-events.ts';
import { sweepWorkspace } from './reconcile/sweep.ts';
import { closeBook } from './settings/globals.ts';
import { openTrustLog } from './settings/trust/open-log.ts';
import { machineOf, readyToWrite, type Store } from './store.ts';
import { type Pace, payAttention, type WatchAttention } from './watch/change-scheduler.ts';
import { type DaemonLock, lockWorkspace } from './workspace/daemon-lock.ts';
import { refuseNewer, type Step, upgrade } from './workspace/format.ts';
import { lookAtWorktrees } from './worktrees/claimed-worktrees.ts';

export interface OpenOptions {
  clock: () => Date;
  /** What follows from a Work item's records; see Store. */
  follow: (item: Item) => MatterChanges | undefined;
  report: (error: unknown, what: string) => void;
  /** The user's state directory. */
  state: string | undefined;
  /** Settings and receivers in the files are trusted. */
  trust?: boolean;
  /** From the files of older releases to today's; those that there are unless given. */
  steps?: readonly Step[];
}

export interface OpenStore {
  store: Store;
  lock: DaemonLock;
  /** Resolves when this process has the lock again after another one wrote: what is in memory is of before. Start anew. */
  readonly outdated: Promise<void>;
  /** Resolves with the new path when the workspace was moved. Start anew there. */
  readonly moved: Promise<string>;
  /** Starts to watch the files; `globalsChanged` is called after settings or global webhooks changed. */
  watch(globalsChanged: () => void, pace?: Pace): WatchAttention;
  close(): Promise<void>;
}

/**
 * Opens a workspace for this process alone, reads all of it, and makes the events of what changed while no daemon ran.
 * Throws WorkspaceHeldError when another process has it.
 */
export const openStore = async (root: string, options: OpenOptions): Promise<OpenStore> => {
  const { report } = options;
  const layout = readyLayout(root, options);
  let readOnly: string | undefined;
  const outdated = signal();
  const lock = await lockWorkspace(layout, {
    waits: (why) => report(undefined, why),
    lost: (why) => {
      readOnly = why;
      report(undefined, `${why}. Nothing is written until then`);
    },
    regained: () => {
      if (!store.journal.isAsLeft()) {
        readOnly = OUTDATED;
        return outdated.raise();
      }
      readOnly = undefined;
      report(undefined, 'The workspace is there again, and held: writing goes on');
      readyToWrite(store).catch((error) => report(error, 'looking after .dossier/'));
    },
  });
  const store = await readAll(layout, options, () => readOnly).catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });
  const looked = tellProblems(store);
  const place = followPlace(root, (to) => {
    readOnly = `The workspace ${root} was moved to ${to}`;
    report(undefined, `${readOnly}. The daemon continues there`);
  });
  let attention: WatchAttention | undefined;
  return {
    store,
    lock,
    moved: place.moved,
    outdated: outdated.raised.then(() => report(undefined, OUTDATED)),
    watch: (globalsChanged, pace) => {
      attention = payAttention(store, andCloser(store, globalsChanged, looked), pace);
      return attention;
    },
    close: async () => {
      await quiet(store, attention);
      const isHeld = !readOnly;
      // What is noticed from here on is told at the next start.
      readOnly ??= 'The daemon ends';
      await endStore(store, isHeld);
      await lock.release(layoutOf(place.close() ?? root, options.state));
    },
  };
};

const readyLayout = (root: string, { state, steps }: OpenOptions): Layout => {
  const layout = layoutOf(root, state);
  refuseNewer(layout, steps?.at(-1)?.to);
  makeSyncedDirectory(root);
  makeDirectories(layout);
  // Refused before it is held: whoever starts it otherwise is not kept from it.
  if (state !== undefined) needStateDir(state, root);
  return layout;
};

const quiet = async ({ locks }: Store, attention: WatchAttention | undefined): Promise<void> => {
  await attention?.close();
  await locks.take(lockOn.problems(), async () => undefined);
};

const endStore = async ({ journal, layout }: Store, isHeld: boolean): Promise<void> => {
  await journal.close();
  if (isHeld) clearLeftovers(layout);
};

const signal = (): { raised: Promise<void>; raise: () => void } => {
  let raise = (): void => undefined;
  const raised = new Promise<void>((resolve) => {
    raise = resolve;
  });
  return { raised, raise: () => raise() };
};

const OUTDATED =
  'Another daemon had the workspace meanwhile, and has ended: this one reads all of it anew';

const readAll = async (
  layout: Layout,
  { clock, follow, report, steps, trust = false }: OpenOptions,
  whyReadOnly: () => string | undefined,
): Promise<Store> => {
  clearLeftovers(layout);
  pruneUndo(layout);
  await upgrade(layout, steps);
  const consent = openTrustLog(layout, true);
  const machine = await machineOf(layout);
  const journal = await openJournal(layout.journal, report, markOf(layout, report));
  const store: Store = {
    ...{ layout, machine, consent, journal, clock, trust, report },
    problems: createProblems(),
    locks: createLocks(({ kind, of }) => kind === 'item' && notice(store, of)),
    get readOnly() {
      return whyReadOnly();
    },
  };
  try {
    await readItems(store, follow);
  } catch (error) {
    await journal.close().catch(() => undefined);
    throw error;
  }
  return store;
};

const readItems = async (store: Store, follow: OpenOptions['follow']): Promise<void> => {
  const { layout, journal } = store;
  store.problems.set(JOURNAL, problemsOfJournal(layout, journal));
  const items = itemsOf(store);
  items.follow = follow;
  items.met = noteNewLink;
  await gitIsDone(layout);
  await firstSweep(store);
  items.formerly.clear();
  await reviveAbsent(store);
  await noteKnown(store);
};

const markOf = (layout: Layout, report: OpenOptions['report']): JournalMark | undefined => {
  const path = journalMarkFile(layout);
  try {
    return path === undefined ? undefined : openMark(path);
  } catch (error) {
    report(error, 'reading in the state directory which events were told');
    return undefined;
  }
};

// Without a journal nobody knows what held: what is found does.
const firstSweep = async (store: Store): Promise<void> => {
  const { runs } = gateOf(store);
  const former = [...runs];
  closeBook(store, former.length > 0);
  if (store.journal.fresh) runs.clear();
  await sweepWorkspace(store);
  for (const [marker, run] of former) runs.set(marker, run);
  lookAtWaiting(store);
  lookAtWorktrees(store);
};

// Only now: of what a crash leaves untold the next start makes no news either.
const noteKnown = async (store: Store): Promise<void> => {
  const items = itemsOf(store);
  if (items.unknown) await store.journal.append({ told: { id: KNOWN, state: true } });
  items.unknown = false;
};

// Called after each sweep: then there is time to look at what no comparison needs.
const andCloser = (store: Store, globalsChanged: () => void, looked: () => void): (() => void) => {
  const look = sharedRead(async () => {
    await lookCloser(store);
    looked();
    await sweepTranscripts(store);
  });
  return () => {
    globalsChanged();
    lookAtWaiting(store);
    look().catch((error) => store.report(error, 'looking at sessions'));
  };
};
