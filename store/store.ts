import { randomUUID } from 'node:crypto';
import { StoreError } from './base/errors.ts';
import type { Locks } from './base/mutex.ts';
import type { ConsentLog } from './consent/log.ts';
import type { Problems } from './front-matter/problems.ts';
import { readRegularFile } from './front-matter/record-file.ts';
import { remakeDirectories } from './fs/directories.ts';
import { createFile, removeFile } from './fs/durable.ts';
import type { Journal } from './journal/journal.ts';
import type { Layout } from './layout.ts';

/**
 * The workspace, opened by this process alone: what everybody may know of it. What a room of the store remembers of it is
 * that room's own (see `remembered`), and its functions say what can be asked and done.
 */
export interface Store {
  readonly layout: Layout;
  readonly journal: Journal;
  readonly locks: Locks;
  readonly problems: Problems;
  /** The name of this machine's `.dossier/`; sessions carry it. */
  readonly machine: string;
  /** What the operator decided on this machine. */
  readonly consent: ConsentLog;
  readonly clock: () => Date;
  /** What stands in the files is the operator's word: `serve --trust`. */
  readonly trust: boolean;
  /** Why the workspace's lock is not ours, in a sentence: nothing is written until it is. */
  readonly readOnly: string | undefined;
  /** Something went wrong that nobody waits for; told to the log. */
  readonly report: (error: unknown, what: string) => void;
}

export interface WithStore {
  readonly store: Store;
}

/** What a room of the store remembers of each open workspace: made when it is first asked for. */
export const remembered = <T>(make: (store: Store) => T): ((store: Store) => T) => {
  const known = new WeakMap<Store, { value: T }>();
  return (store) => {
    const kept = known.get(store) ?? { value: make(store) };
    known.set(store, kept);
    return kept.value;
  };
};

/** Throws unless the store may write: this process holds the workspace, and the journal has room for the event. */
export const readyToWrite = async (store: Store): Promise<void> => {
  if (store.readOnly !== undefined)
    throw new StoreError('read_only', `${store.readOnly}. Nothing was written`);
  await remake(store);
  await store.journal.reserve();
};

const LOST =
  'A part of .dossier/ was removed. What this daemon remembers is there again; secrets, API keys and worktrees that were in it are lost';

// Makes again what was taken away of `.dossier/`, so that nothing that is still known is lost at the next start.
const remake = async ({ layout, machine, report }: Store): Promise<void> => {
  if (!remakeDirectories(layout)) return;
  report(undefined, LOST);
  await createFile(layout, layout.machine, `${machine}\n`);
};

/**
 * The name of this machine's `.dossier/`: a UUID that says nothing of the machine. A session carries it, so that another
 * clone of the workspace knows that it is not its own. Made when it is not there.
 */
export const machineOf = async (layout: Layout): Promise<string> => {
  const known = readRegularFile(layout.root, layout.machine)?.toString('utf8').trim() ?? '';
  if (UUID.test(known)) return known;
  await removeFile(layout, layout.machine);
  const name = randomUUID();
  await createFile(layout, layout.machine, `${name}\n`);
  return name;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What whoever watches the files is asked for. Until somebody does, nothing comes of it. */
export interface Attention {
  /** A place to be watched from now on, or no longer. */
  watch: (dir: string, kind: 'item' | 'folder' | 'none') => void;
  /** Asks for a decision about what is missing, once the grace period is over. */
  lookLater: () => void;
  /** Asks to look at a path again then, for what may be half saved. Undefined until somebody can. */
  lookAgain: ((path: string) => void) | undefined;
}

export const attentionOf = remembered(
  (): Attention => ({ watch: () => undefined, lookLater: () => undefined, lookAgain: undefined }),
);
