import { join } from 'node:path';
import { signal } from '../base/async.ts';
import { withoutLocks } from '../base/mutex.ts';
import { inUtc } from '../base/names.ts';
import type { FileProblem } from '../front-matter/problem.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import type { Standing } from '../fs/plain-path.ts';
import { remembered, type Store } from '../store.ts';
import { type Item, problemsOf } from './item.ts';
import type { ItemFiles } from './read-item.ts';
import { standingOf } from './walk.ts';

/** The Work items in memory, for lists and look-ups without disk access. All of it can be rebuilt from disk and journal. */
export const itemsOf = remembered(({ journal }) => ({
  byId: new Map<string, Item>(),
  byDir: new Map<string, Item>(),
  /** Directories that cannot be used: not entered, a duplicate id, or a case.md that was never readable. */
  strangers: new Set<string>(),
  /** Changes with every change of an item, and is unique in this process: the same version means the same list. */
  version: newVersion(),
  ordered: undefined as Item[] | undefined,
  /** True until a workspace without a journal was compared once: what is found meanwhile makes no events. */
  unknown: !journal.told.has(KNOWN),
  /** The Work items that a workspace without a journal had when it was opened. */
  baseline: new Set<string>(),
  /** Work items of the journal whose files were not read since the start. */
  unread: new Set<string>(),
  /** Resolved when the first sweep has compared the whole workspace. */
  compared: signal(),
  /** Work items whose directory, or a file in it, was missing at the last reading. */
  missing: new Set<string>(),
  /** Work items that had a session lock at the last reading. The file itself names the holder. */
  locked: new Set<string>(),
  /** The journaled state of each directory at the start, so that unchanged files are not parsed again. */
  formerly: new Map([...journal.seen.values()].map((seen) => [seen.dir, seen])),
  /** New directories whose case.md may be half saved, as last read. */
  unsettled: new Map<string, ItemFiles>(),
  /** When the workspace directory was last missing, in milliseconds of `performance.now()`. */
  away_at: undefined as number | undefined,
  /** The changes that follow from a Work item's records, such as closing it. Computed again after a crash. */
  follow: (_item: Item): MatterChanges | undefined => undefined,
  /** Called for a Work item that is new or was moved. */
  met: (_store: Store, _item: Item): void => undefined,
  changed: new Set<(id: string, item: Item | undefined) => void>(),
  noticed: new Set<(id?: string) => void>(),
}));

/** Journal key: the workspace was compared completely once. */
export const KNOWN = 'workspace';

let versions = 0;

export const newVersion = (): number => {
  versions += 1;
  return versions;
};

/** A Work item as last read; undefined if there is none. */
export const itemOf = (store: Store, id: string): Item | undefined => itemsOf(store).byId.get(id);

/** The Work item in a directory, relative to the workspace. */
export const itemIn = (store: Store, dir: string): Item | undefined =>
  itemsOf(store).byDir.get(dir);

export const allItems = (store: Store): Item[] => [...itemsOf(store).byId.values()];

/** The absolute path of a Work item's directory, or of what `below` names in it; undefined if there is no such Work item. */
export const pathOfItem = (
  store: Store,
  id: string,
  below = (dir: string): string => dir,
): string | undefined => {
  const item = itemOf(store, id);
  return item && below(join(store.layout.root, item.dir));
};

/** Whether the directory of a Work item is there now. */
export const directoryStatusOf = ({ layout: { root } }: Store, { dir }: Item): Standing =>
  standingOf(root, dir);

/** Whether the directory of a Work item, or a file in it, is missing and may come back. */
export const isMissing = (store: Store, id: string): boolean => itemsOf(store).missing.has(id);

/** Whether a directory is a known Work item, or known to be unusable. */
export const isKnownDirectory = (store: Store, dir: string): boolean => {
  const { byDir, strangers } = itemsOf(store);
  return byDir.has(dir) || strangers.has(dir);
};

/** Whether a Work item was in a workspace without a journal when it was opened: what was found of it then made no events. */
export const isFromBaseline = (store: Store, id: string): boolean => {
  const { unknown, baseline } = itemsOf(store);
  return unknown || baseline.has(id);
};

/** Resolves when the first sweep has compared the whole workspace. */
export const whenCompared = (store: Store): Promise<void> => itemsOf(store).compared.raised;

/** How many Work items of the journal are still to be compared; undefined once the whole workspace is. */
export const leftToCompare = (store: Store): number | undefined =>
  itemsOf(store).compared.isRaised ? undefined : itemsOf(store).unread.size;

export const endFirstComparison = (store: Store): void => itemsOf(store).compared.raise();

/** Changes with every change of a Work item; unique among the workspaces of this process. */
export const versionOf = (store: Store): number => itemsOf(store).version;

/** Calls `listener` after any change of a Work item, and when it is gone (undefined). Returns the function that unsubscribes. */
export const onItemChanged = (
  store: Store,
  listener: (id: string, item: Item | undefined) => void,
): (() => void) => {
  const { changed } = itemsOf(store);
  changed.add(listener);
  return () => void changed.delete(listener);
};

/** Notifies the listeners of a Work item. */
export const notifyItemChanged = (store: Store, id: string): void => {
  const item = itemOf(store, id);
  for (const listener of itemsOf(store).changed) withoutLocks(() => listener(id, item));
};

/** Calls `listener` after any file of a Work item may have changed, or, without an id, a file of the workspace itself. */
export const onFilesChanged = (store: Store, listener: (id?: string) => void): void =>
  void itemsOf(store).noticed.add(listener);

export const notice = (store: Store, id?: string): void => {
  if (id === undefined || itemOf(store, id) !== undefined)
    for (const listener of itemsOf(store).noticed) withoutLocks(() => listener(id));
};

/** Drops the cached response of a changed Work item, and updates its problems and the version of lists. */
export const invalidate = (store: Store, item: Item): void => {
  item.response = undefined;
  store.problems.set(item.id, problemsOf(item));
  itemsOf(store).version = newVersion();
};

export const putItem = (store: Store, item: Item): void => {
  const items = itemsOf(store);
  items.ordered = items.byId.has(item.id) ? undefined : orderWith(items.ordered, item);
  items.byId.set(item.id, item);
  items.byDir.set(item.dir, item);
  clearUnusable(store, item.dir);
  invalidate(store, item);
};

// Most new Work items are the newest. To sort all again would delay the next list.
const orderWith = (ordered: Item[] | undefined, item: Item): Item[] | undefined => {
  const last = ordered?.at(-1);
  if (ordered === undefined || last === undefined || ageOf(last) > ageOf(item)) return undefined;
  ordered.push(item);
  return ordered;
};

/** Takes over the files of a Work item as they were read again. */
export const putFiles = (store: Store, item: Item, files: ItemFiles): void => {
  if (createdAt(files) !== createdAt(item.files)) itemsOf(store).ordered = undefined;
  item.files = files;
};

export const moveItem = (store: Store, item: Item, dir: string): void => {
  const items = itemsOf(store);
  items.byDir.delete(item.dir);
  item.dir = dir;
  items.byDir.set(dir, item);
  clearUnusable(store, dir);
  invalidate(store, item);
};

export const dropItem = (store: Store, item: Item): void => {
  forgetItem(store, item);
  item.response = undefined;
  store.problems.set(item.id, []);
};

/** Removes an item from the index without any trace of it. */
export const forgetItem = (store: Store, item: Item): void => {
  const items = itemsOf(store);
  items.byId.delete(item.id);
  items.unread.delete(item.id);
  if (items.byDir.get(item.dir) === item) items.byDir.delete(item.dir);
  items.ordered = undefined;
  items.version = newVersion();
};

/** Marks a directory that cannot be used as a Work item, and reports why. */
export const markUnusable = (store: Store, dir: string, problems: readonly FileProblem[]): void => {
  itemsOf(store).strangers.add(dir);
  store.problems.set(dir, problems);
};

export const clearUnusable = (store: Store, dir: string): void => {
  if (itemsOf(store).strangers.delete(dir)) store.problems.set(dir, []);
};

/** All Work items, oldest first. */
export const itemsByAge = (store: Store): Item[] => {
  const items = itemsOf(store);
  items.ordered ??= [...items.byId.values()]
    .map((item) => ({ item, age: ageOf(item) }))
    .sort((a, b) => (a.age < b.age ? -1 : 1))
    .map(({ item }) => item);
  return items.ordered;
};

const ageOf = ({ id, files }: Item): string => `${inUtc(createdAt(files))} ${id}`;

const createdAt = (files: ItemFiles): string => files.case.value?.matter.created_at ?? '';
