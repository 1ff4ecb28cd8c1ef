import { join } from 'node:path';
import { apart } from '../base/mutex.ts';
import type { FileProblem } from '../front-matter/problem.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import { type Standing, standing } from '../fs/plain-path.ts';
import type { ToldState } from '../journal/journal-state.ts';
import { remembered, type Store } from '../store.ts';
import { type Item, problemsOf } from './item.ts';
import type { ItemFiles } from './read-item.ts';

/**
 * The Work items in memory: what a list or a look-up needs without touching the disk, and what is known of their places.
 * It holds nothing that the directories and the journal do not say.
 */
export interface Items {
  readonly byId: Map<string, Item>;
  readonly byDir: Map<string, Item>;
  /** Directories that look like Work items and cannot be one: a second one with the same id, a case.md that never was readable. */
  readonly strangers: Set<string>;
  /** Grows with every change, and no other workspace of this process has it: a list answered at it can be sent again. */
  version: number;
  ordered: Item[] | undefined;
  /** Nobody has told of this workspace yet: what is found in it is no news. Until all of it was looked at once. */
  unknown: boolean;
  /** That was so when the workspace was opened: what was last told of anything in it is not known. */
  readonly isBaseline: boolean;
  /** Those whose directory is not where it was, or in which a file has just vanished. */
  readonly missing: Set<string>;
  /** Those in whose folder a session lock was when it was last looked at. The file itself says who holds it. */
  readonly locked: Set<string>;
  /** What was last told of each directory before this start: a file that is still the same is not parsed again. */
  readonly formerly: Map<string, ToldState>;
  /** New directories whose case.md may be half saved, as they were read. */
  readonly doubtful: Map<string, ItemFiles>;
  /** When the whole workspace was last seen to be away, by the clock that nobody sets. */
  away_at: number | undefined;
  /** What follows from the records of a Work item: the first write decides, this is the second (also after a crash). */
  follow: (item: Item) => MatterChanges | undefined;
  /** Looks at what lies beside case.md of one that is new, or elsewhere now. */
  met: (store: Store, item: Item) => void;
  readonly changed: Set<(id: string, item: Item | undefined) => void>;
  readonly noticed: Set<(id?: string) => void>;
}

export const itemsOf = remembered(
  ({ journal }): Items => ({
    byId: new Map(),
    byDir: new Map(),
    strangers: new Set(),
    version: newVersion(),
    ordered: undefined,
    unknown: !journal.told.has(KNOWN),
    isBaseline: !journal.told.has(KNOWN),
    missing: new Set(),
    locked: new Set(),
    formerly: new Map([...journal.seen.values()].map((seen) => [seen.dir, seen])),
    doubtful: new Map(),
    away_at: undefined,
    follow: () => undefined,
    met: () => undefined,
    changed: new Set(),
    noticed: new Set(),
  }),
);

/** What the journal keeps under this name: that all of the workspace was told of once. */
export const KNOWN = 'workspace';

let versions = 0;

export const newVersion = (): number => {
  versions += 1;
  return versions;
};

/** A Work item as it was last read; undefined when there is none. */
export const itemOf = (store: Store, id: string): Item | undefined => itemsOf(store).byId.get(id);

/** The Work item in a directory, relative to the workspace. */
export const itemIn = (store: Store, dir: string): Item | undefined =>
  itemsOf(store).byDir.get(dir);

export const allItems = (store: Store): Item[] => [...itemsOf(store).byId.values()];

/**
 * The absolute path of a Work item's directory, or of what `below` names in it, this moment; undefined when there is no
 * such Work item.
 */
export const pathOfItem = (
  store: Store,
  id: string,
  below = (dir: string): string => dir,
): string | undefined => {
  const item = itemOf(store, id);
  return item && below(join(store.layout.root, item.dir));
};

/** How its directory stands this moment. */
export const standingOf = ({ layout: { root } }: Store, { dir }: Item): Standing =>
  standing(root, join(root, dir));

/** Whether it is not known where the directory of a Work item is, or a file in it has just vanished. */
export const isMissing = (store: Store, id: string): boolean => itemsOf(store).missing.has(id);

/** Whether what is in a directory is known: a Work item, or what looks like one and cannot be. */
export const isKnownPlace = (store: Store, dir: string): boolean => {
  const { byDir, strangers } = itemsOf(store);
  return byDir.has(dir) || strangers.has(dir);
};

/** Whether it was not known what was told of this workspace when it was opened: what was found in it then is no news. */
export const wasUntold = (store: Store): boolean => itemsOf(store).isBaseline;

/** Another number, another list: it grows with every change, and no other workspace of this process has it. */
export const versionOf = (store: Store): number => itemsOf(store).version;

/** `listener` is called after a Work item changed in any way, or when it is gone. Answers what ends that. */
export const whenChanged = (
  store: Store,
  listener: (id: string, item: Item | undefined) => void,
): (() => void) => {
  const { changed } = itemsOf(store);
  changed.add(listener);
  return () => void changed.delete(listener);
};

/** Tells those who listen that a Work item changed. */
export const announce = (store: Store, id: string): void => {
  const item = itemOf(store, id);
  for (const listener of itemsOf(store).changed) apart(() => listener(id, item));
};

/**
 * `listener` is called after anything of a Work item may have been written or found changed: its own files, or those
 * beside them. Without one: of the workspace's own.
 */
export const whenNoticed = (store: Store, listener: (id?: string) => void): void =>
  void itemsOf(store).noticed.add(listener);

export const notice = (store: Store, id?: string): void => {
  if (id === undefined || itemOf(store, id) !== undefined)
    for (const listener of itemsOf(store).noticed) apart(() => listener(id));
};

/** The item changed: ready answers are thrown away. */
export const touch = (store: Store, item: Item): void => {
  item.answer = undefined;
  store.problems.set(item.id, problemsOf(item));
  itemsOf(store).version = newVersion();
};

export const putItem = (store: Store, item: Item): void => {
  const items = itemsOf(store);
  items.byId.set(item.id, item);
  items.byDir.set(item.dir, item);
  unstrange(store, item.dir);
  items.ordered = undefined;
  touch(store, item);
};

export const moveItem = (store: Store, item: Item, dir: string): void => {
  const items = itemsOf(store);
  items.byDir.delete(item.dir);
  item.dir = dir;
  items.byDir.set(dir, item);
  unstrange(store, dir);
  touch(store, item);
};

export const dropItem = (store: Store, item: Item): void => {
  const items = itemsOf(store);
  items.byId.delete(item.id);
  if (items.byDir.get(item.dir) === item) items.byDir.delete(item.dir);
  items.ordered = undefined;
  touch(store, item);
  store.problems.set(item.id, []);
};

/** This directory looks like a Work item's, and this is why it cannot be one. */
export const estrange = (store: Store, dir: string, problems: readonly FileProblem[]): void => {
  itemsOf(store).strangers.add(dir);
  store.problems.set(dir, problems);
};

export const unstrange = (store: Store, dir: string): void => {
  if (itemsOf(store).strangers.delete(dir)) store.problems.set(dir, []);
};

/** All Work items, oldest first. */
export const inOrder = (store: Store): Item[] => {
  const items = itemsOf(store);
  items.ordered ??= [...items.byId.values()].sort(byAge);
  return items.ordered;
};

const byAge = (a: Item, b: Item): number => {
  const [one, other] = [ageOf(a), ageOf(b)];
  if (one === other) return a.id < b.id ? -1 : 1;
  return one < other ? -1 : 1;
};

const ageOf = ({ files }: Item): string => files.case.value?.matter.created_at ?? '';
