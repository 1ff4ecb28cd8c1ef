import { randomUUID } from 'node:crypto';
import { StoreError } from './base/errors.ts';
import type { Locks } from './base/mutex.ts';
import { isUuid } from './base/names.ts';
import type { ConsentLog } from './consent/log.ts';
import type { Problems } from './front-matter/problems.ts';
import { readRegularFile } from './front-matter/record-file.ts';
import { remakeDirectories } from './fs/directories.ts';
import { createFile, removeFile } from './fs/durable.ts';
import type { Journal } from './journal/journal.ts';
import type { Layout } from './layout.ts';

/**
 * An open workspace. Each room of the store keeps its own memory for it (see `remembered`), and offers functions on it.
 */
export interface Store {
  readonly layout: Layout;
  readonly journal: Journal;
  readonly locks: Locks;
  readonly problems: Problems;
  /** The id of this machine's `.dossier/`, which sessions carry. */
  readonly machine: string;
  /** The operator's decisions on this machine. */
  readonly consent: ConsentLog;
  readonly clock: () => Date;
  /** Whether all values in the files are trusted: `serve --trust`. */
  readonly trust: boolean;
  /** Why nothing may be written, as a sentence without a full stop; undefined while this process holds the workspace. */
  readonly readOnly: string | undefined;
  /** Logs an event, or an error of work that no caller awaits. */
  readonly report: (error: unknown, what: string) => void;
}

export interface WithStore {
  readonly store: Store;
}

/** The memory of a room for each open workspace, created when it is first used. */
export const remembered = <T>(make: (store: Store) => T): ((store: Store) => T) => {
  const known = new WeakMap<Store, { value: T }>();
  return (store) => {
    const kept = known.get(store) ?? { value: make(store) };
    known.set(store, kept);
    return kept.value;
  };
};

/** Throws unless the store may write: this process holds the workspace, and the journal has room for an event. */
export const readyToWrite = async (store: Store): Promise<void> => {
  if (store.readOnly !== undefined)
    throw new StoreError('read_only', `${store.readOnly}. Nothing was written`);
  await remake(store);
  await store.journal.reserve();
};

const LOST =
  'A part of .dossier/ was removed. The daemon restored what it has in memory; secrets, API keys and worktrees in it are lost';

// Restores removed parts of `.dossier/`, so that the next start does not lose what is still in memory.
const remake = async ({ layout, machine, report }: Store): Promise<void> => {
  if (!remakeDirectories(layout)) return;
  report(undefined, LOST);
  await createFile(layout, layout.machine, `${machine}\n`);
};

/**
 * The id of this machine's `.dossier/`: a random UUID, created if missing. Sessions carry it, so that other clones of the
 * workspace recognize them as foreign.
 */
export const machineOf = async (layout: Layout): Promise<string> => {
  const known = readRegularFile(layout.root, layout.machine)?.toString('utf8').trim() ?? '';
  if (isUuid(known)) return known;
  await removeFile(layout, layout.machine);
  const name = randomUUID();
  await createFile(layout, layout.machine, `${name}\n`);
  return name;
};

/** How often something happened that may leave work for a comparison: a lock was released, or an error was reported. */
export const activityOf = remembered(() => ({ count: 0 }));

/** Requests to the watcher. They have no effect until it is set up. */
export interface Attention {
  /** Starts or ends the watch of a directory. */
  watch: (dir: string, kind: 'item' | 'folder' | 'record' | 'none') => void;
  /** Schedules a decision about missing Work items after the grace period. */
  scheduleMissingDecision: () => void;
  /** Schedules another read of a path after the grace period. Undefined until the watcher is set up. */
  scheduleReread: ((path: string) => void) | undefined;
}

export const watchRequestsOf = remembered(
  (): Attention => ({
    watch: () => undefined,
    scheduleMissingDecision: () => undefined,
    scheduleReread: undefined,
  }),
);
