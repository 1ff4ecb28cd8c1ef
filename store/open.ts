import { coalesceReads, signal } from './base/async.ts';
import { lockOn } from './base/locks.ts';
import { createLocks } from './base/mutex.ts';
import { indexNewLink } from './codehost/link-index.ts';
import { needStateDir } from './consent/state-dir.ts';
import { journalMarkFile } from './consent/workspace-id.ts';
import { createProblems } from './front-matter/problems.ts';
import type { MatterChanges } from './front-matter/splice.ts';
import { clearLeftovers, makeDirectories } from './fs/directories.ts';
import { whenGitIdle } from './fs/git-dir.ts';
import { watchForMove } from './fs/root-move.ts';
import { makeSyncedDirectory } from './fs/synced.ts';
import { pruneUndo } from './fs/undo.ts';
import { gateOf } from './held/held-file.ts';
import { openJournal } from './journal/journal.ts';
import type { AssertHeld } from './journal/journal-file.ts';
import { problemsOfJournal } from './journal/journal-problems.ts';
import { type JournalMark, openMark } from './journal/mark.ts';
import { type Layout, layoutOf } from './layout.ts';
import { refreshClaims } from './pending/claimed-worktrees.ts';
import { refreshPending } from './pending/pending.ts';
import { checkSidecars } from './problems/sidecar-problems.ts';
import { sweepTranscripts } from './problems/sweep-transcripts.ts';
import type { Item } from './reconcile/item.ts';
import { endFirstComparison, itemsOf, KNOWN, notice } from './reconcile/items.ts';
import { indexJournaled } from './reconcile/journaled.ts';
import { resolveAbsent } from './reconcile/missing.ts';
import { followProblems, JOURNAL } from './reconcile/problem-events.ts';
import { sweepWorkspace } from './reconcile/sweep.ts';
import { refreshGlobals, setTrustClosed } from './settings/globals.ts';
import { openTrustLog } from './settings/trust/tightening.ts';
import { activityOf, machineOf, readyToWrite, type Store } from './store.ts';
import { type Pace, startWatching, type WorkspaceWatch } from './watch/change-scheduler.ts';
import { lockWorkspace } from './workspace/daemon-lock.ts';
import { refuseNewer, type Step, upgrade } from './workspace/format.ts';

export interface OpenOptions {
  clock: () => Date;
  /** The changes that follow from a Work item's records. */
  follow: (item: Item) => MatterChanges | undefined;
  report: (error: unknown, what: string) => void;
  /** The user's state directory. */
  state: string | undefined;
  /** Trust the settings and webhooks in the files. */
  trust?: boolean;
  /** Upgrade steps from the formats of older releases; for tests. */
  steps?: readonly Step[];
}

/**
 * Locks a workspace for this process, and knows its Work items from the journal; `compare` reads them. Throws
 * WorkspaceHeldError if another process holds it.
 */
export const openStore = async (root: string, options: OpenOptions) => {
  const { report } = options;
  const layout = readyLayout(root, options);
  let readOnly: string | undefined;
  const outdated = signal();
  let place: ReturnType<typeof watchForMove> | undefined;
  const lock = await lockWorkspace(layout, {
    waits: (why) => report(undefined, why),
    away: () => place?.why(),
    lost: (why) => {
      readOnly = why;
      report(undefined, `${why}. Writes are refused until then`);
    },
    regained: () => {
      if (!store.journal.isUnmodified()) {
        readOnly = OUTDATED;
        return outdated.raise();
      }
      readOnly = undefined;
      report(undefined, 'The workspace is back and locked again; writes are accepted');
      readyToWrite(store).catch((error) => report(error, 'restoring .dossier/'));
    },
  });
  const held = { whyReadOnly: () => readOnly ?? place?.why(), assertHeld: lock.assertHeld };
  const store = await openFiles(layout, options, held).catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });
  const { compare, watch, end } = comparisonsOf(store);
  place = watchForMove(root, (to) => {
    readOnly = `The workspace ${root} was moved to ${to}`;
    report(undefined, `${readOnly}. The daemon continues there`);
  });
  const { moved, close } = place;
  return {
    store,
    lock,
    /** Resolves with the new path when the workspace was moved. Open it again there. */
    moved,
    /** Resolves when this process holds the lock again after another one wrote. The store in memory is outdated: open it again. */
    outdated: outdated.raised.then(() => report(undefined, OUTDATED)),
    compare,
    watch,
    close: async (): Promise<void> => {
      await end();
      const isHeld = !readOnly;
      // The next start compares changes that are made from here on.
      readOnly ??= 'The daemon is shutting down';
      await endStore(store, isHeld);
      await lock.release(layoutOf(close() ?? root, options.state));
    },
  };
};

export type OpenStore = Awaited<ReturnType<typeof openStore>>;

const readyLayout = (root: string, { state, steps }: OpenOptions): Layout => {
  const layout = layoutOf(root, state);
  refuseNewer(layout, steps?.at(-1)?.to);
  makeSyncedDirectory(root);
  makeDirectories(layout);
  // Checked before the lock is taken, so that a failed start does not block another one.
  if (state !== undefined) needStateDir(state, root);
  return layout;
};

/** The first comparison of a workspace, and those of its watch; `end` ends them. */
const comparisonsOf = (store: Store) => {
  let compared: Promise<void> | undefined;
  let looked = (): void => undefined;
  let watching: WorkspaceWatch | undefined;
  const compare = async (): Promise<void> => {
    await compareFirst(store);
    looked = followProblems(store);
    endFirstComparison(store);
  };
  return {
    /**
     * Compares all Work items with their files, and makes the events of changes since the last daemon. Until then a Work item
     * is read when it is requested. Later calls return the first result.
     */
    compare: (): Promise<void> => {
      compared ??= compare();
      return compared;
    },
    /** Starts to watch the files, once they are compared; `globalsChanged` is called after settings or global webhooks changed. */
    watch: (globalsChanged: () => void, pace?: Pace): WorkspaceWatch => {
      watching = startWatching(store, afterSweep(store, globalsChanged, looked), pace);
      return watching;
    },
    end: async (): Promise<void> => {
      await compared?.catch(() => undefined);
      await watching?.close();
      await store.locks.take(lockOn.problems(), async () => undefined);
    },
  };
};

const endStore = async ({ journal, layout }: Store, isHeld: boolean): Promise<void> => {
  await journal.close();
  if (isHeld) clearLeftovers(layout);
};

const OUTDATED =
  'Another daemon held the workspace meanwhile, and has ended. This daemon reads the workspace again';

const openFiles = async (
  layout: Layout,
  { clock, follow, report, steps, trust = false }: OpenOptions,
  { whyReadOnly, assertHeld }: { whyReadOnly: () => string | undefined; assertHeld: AssertHeld },
): Promise<Store> => {
  clearLeftovers(layout, report);
  pruneUndo(layout, report);
  await upgrade(layout, steps);
  const consent = openTrustLog(layout, true);
  const machine = await machineOf(layout);
  const journal = await openJournal(
    layout.journal,
    report,
    openJournalMark(layout, report),
    assertHeld,
  );
  const store: Store = {
    layout,
    machine,
    consent,
    journal,
    clock,
    trust,
    report: (error, what) => {
      activityOf(store).count += 1;
      report(error, what);
    },
    problems: createProblems(),
    locks: createLocks(({ kind, of }) => {
      // Each comparison ends with a look at the problems.
      if (kind !== 'problems') activityOf(store).count += 1;
      if (kind === 'item') notice(store, of);
    }),
    get readOnly() {
      return whyReadOnly();
    },
  };
  try {
    await whenGitIdle(layout);
    setTrustClosed(store, gateOf(store).runs.size > 0);
    await refreshGlobals(store, true);
  } catch (error) {
    await journal.close().catch(() => undefined);
    throw error;
  }
  store.problems.set(JOURNAL, problemsOfJournal(layout, journal));
  const items = itemsOf(store);
  items.follow = follow;
  items.met = indexNewLink;
  indexJournaled(store);
  return store;
};

const openJournalMark = (
  layout: Layout,
  report: OpenOptions['report'],
): JournalMark | undefined => {
  const path = journalMarkFile(layout);
  try {
    return path === undefined ? undefined : openMark(path);
  } catch (error) {
    report(error, 'reading in the state directory which events were sent');
    return undefined;
  }
};

const compareFirst = async (store: Store): Promise<void> => {
  const items = itemsOf(store);
  const { runs } = gateOf(store);
  const former = [...runs];
  // Without a journal no earlier values are known, so the files count.
  if (store.journal.fresh) runs.clear();
  await sweepWorkspace(store);
  for (const [marker, run] of former) runs.set(marker, run);
  refreshPending(store);
  refreshClaims(store);
  items.formerly.clear();
  await resolveAbsent(store);
  await noteKnown(store);
};

// Recorded last, so that after a crash during the first sweep the next start makes no events either.
const noteKnown = async (store: Store): Promise<void> => {
  const items = itemsOf(store);
  if (!items.unknown) return;
  for (const id of items.byId.keys()) items.baseline.add(id);
  await store.journal.append({ told: { id: KNOWN, state: true } });
  items.unknown = false;
};

// Called after each sweep: runs the checks that comparisons do not need.
const afterSweep = (store: Store, globalsChanged: () => void, looked: () => void): (() => void) => {
  const look = coalesceReads(async () => {
    await checkSidecars(store);
    looked();
    await sweepTranscripts(store);
  });
  return () => {
    globalsChanged();
    refreshPending(store);
    look().catch((error) => store.report(error, 'checking sessions'));
  };
};
