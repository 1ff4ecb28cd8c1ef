import { join } from 'node:path';
import { apart } from '../base/mutex.ts';
import type { FileProblem } from '../front-matter/problem.ts';
import type { State } from '../records/case.ts';
import type { Store } from '../store.ts';
import { caseOf, caseStateOf, type Item, problemsOf } from './item.ts';
import { itemsOf, newVersion } from './state.ts';

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

export interface Filter {
  state?: State;
  outcome?: string;
  type?: string;
  project?: string;
  /** Milliseconds since the epoch; neither end is in it. */
  created?: Span;
  updated?: Span;
  /** Each has to be in the title or the description. */
  words?: readonly RegExp[];
  ids?: ReadonlySet<string>;
  /** What its id begins with, in small letters. */
  id_prefix?: string;
}

export interface Span {
  after: number;
  before: number;
}

export const matchesFilter = (item: Item, filter: Filter): boolean => {
  const { state, outcome, type, project, created, updated, ids, id_prefix = '' } = filter;
  const { matter } = caseOf(item);
  return (
    (ids === undefined || ids.has(item.id)) &&
    item.id.startsWith(id_prefix) &&
    (state === undefined || caseStateOf(item) === state) &&
    (outcome === undefined || matter.outcome === outcome) &&
    (type === undefined || matter.type === type) &&
    (project === undefined || (matter.project ?? 'default') === project) &&
    (created === undefined || isWithin(created, Date.parse(matter.created_at))) &&
    (updated === undefined || isWithin(updated, item.files.case.written_at)) &&
    hasWords(item, filter)
  );
};

// Last of all: it is what costs.
const hasWords = (item: Item, { words }: Filter): boolean => {
  if (words === undefined) return true;
  const { matter, description } = caseOf(item);
  return words.every((word) => word.test(matter.title) || word.test(description));
};

const isWithin = ({ after, before }: Span, at: number): boolean => at > after && at < before;
