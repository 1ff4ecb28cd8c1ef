import { apart, type Turns } from '../base/turns.ts';
import type { DeliveryArrivals } from './arrivals.ts';
import type { SessionFiles } from './beside/session-files.ts';
import { remakeDirectories } from './disk/directories.ts';
import { StoreError } from './errors.ts';
import type { FileGate } from './gate/gate.ts';
import type { Item } from './items/item.ts';
import type { ItemFiles } from './items/item-files.ts';
import type { Items } from './items/items.ts';
import type { Journal, ToldState } from './journal/journal.ts';
import type { Layout } from './layout.ts';
import type { LinkIndex } from './links/link-index.ts';
import type { PullIndex } from './pulls/pull-index.ts';
import { keepMachine } from './sessions/machine.ts';
import type { Globals } from './settings/globals.ts';
import type { Problems } from './text/problems.ts';
import type { MatterChanges } from './text/splice.ts';
import type { PlaceKind } from './watch/watch.ts';

/** The workspace, opened by this process alone. */
export interface Store {
  readonly layout: Layout;
  readonly items: Items;
  readonly journal: Journal;
  readonly turns: Turns;
  /** The name of this machine's `.dossier/`; sessions carry it. */
  readonly machine: string;
  readonly clock: () => Date;
  /** What follows from the records of a Work item: the first write decides, this is the second (also after a crash). */
  follow: (item: Item) => MatterChanges | undefined;
  /** Nobody has told of this workspace yet: what is found in it is no news. Until all of it was looked at once. */
  unknown: boolean;
  /** Work items whose directory is not where it was, or in which a file has just vanished. */
  readonly missing: Set<string>;
  /** Work items in whose folder a session lock was when it was last looked at. The file itself says who holds it. */
  readonly held: Set<string>;
  /** What was last told of each directory before this start: a file that is still the same is not parsed again. */
  readonly formerly: Map<string, ToldState>;
  /** When the whole workspace was last seen to be away, by the clock that nobody sets. */
  away_at: number | undefined;
  /** Asks for a decision about the missing ones, once the grace period is over. */
  lookLater: () => void;
  /** Asks to look at a path again once the grace period is over, for what may be half saved. Undefined until somebody can. */
  lookAgain: ((path: string) => void) | undefined;
  /** New directories whose case.md may be half saved, as they were read. */
  readonly doubtful: Map<string, ItemFiles>;
  readonly problems: Problems;
  /** What of each Work item is looked at for problems alone. */
  readonly closer: Map<string, SessionFiles>;
  readonly links: LinkIndex;
  readonly pulls: PullIndex;
  readonly arrivals: DeliveryArrivals;
  /** A place to be watched from now on. Does nothing until somebody watches. */
  watch: (dir: string, kind: PlaceKind) => void;
  readonly globals: Globals;
  /** What in files waits for the operator. */
  readonly gate: FileGate;
  /** Why the workspace's lock is not ours, in a sentence: nothing is written until it is. */
  readOnly: string | undefined;
  /** Called after a Work item changed in any way, or when it is gone. */
  readonly listeners: Set<(id: string, item: Item | undefined) => void>;
  /** Called after anything of a Work item may have been written or found changed: its own files, or those beside them. Without one: of the workspace's own. */
  readonly noticed: Set<(id?: string) => void>;
  /** Something went wrong that nobody waits for; told to the log. */
  report: (error: unknown, what: string) => void;
}

export const announce = (store: Store, id: string): void => {
  const item = store.items.byId.get(id);
  for (const listener of store.listeners) apart(() => listener(id, item));
};

/** Throws unless the store may write: this process holds the workspace, and the journal has room for the event. */
export const readyToWrite = async (store: Store): Promise<void> => {
  if (store.readOnly !== undefined)
    throw new StoreError('read_only', `${store.readOnly}. Nothing was written`);
  await remake(store);
  await store.journal.reserve();
};

export const notice = ({ items, noticed }: Store, id?: string): void => {
  if (id === undefined || items.byId.has(id))
    for (const listener of noticed) apart(() => listener(id));
};

const LOST =
  'A part of .dossier/ was removed. What this daemon remembers is there again; secrets, API keys and worktrees that were in it are lost';

/** Makes again what was taken away of `.dossier/`, so that nothing that is still known is lost at the next start. */
export const remake = async (store: Store): Promise<void> => {
  if (!remakeDirectories(store.layout)) return;
  store.report(undefined, LOST);
  await keepMachine(store.layout, store.machine);
};

export interface WithStore {
  readonly store: Store;
}
