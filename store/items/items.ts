import type { State } from '../records/case.ts';
import type { FileProblem } from '../text/problem.ts';
import type { Problems } from '../text/problems.ts';
import { caseOf, caseStateOf, type Item, problemsOf } from './item.ts';

/**
 * The Work items in memory: what a list or a look-up needs without touching the disk. It holds nothing that the
 * directories do not say.
 */
export interface Items {
  readonly byId: Map<string, Item>;
  readonly byDir: Map<string, Item>;
  /** Directories that look like Work items and cannot be one: a second one with the same id, a case.md that never was readable. */
  readonly strangers: Set<string>;
  readonly problems: Problems;
  /** Grows with every change, and no other workspace of this process has it: a list answered at it can be sent again. */
  version: number;
  ordered: Item[] | undefined;
}

let versions = 0;
const newVersion = (): number => {
  versions += 1;
  return versions;
};

export const createItems = (problems: Problems): Items => ({
  byId: new Map(),
  byDir: new Map(),
  strangers: new Set(),
  problems,
  version: newVersion(),
  ordered: undefined,
});

/** The item changed: ready answers are thrown away. */
export const touch = (items: Items, item: Item): void => {
  item.answer = undefined;
  items.problems.set(item.id, problemsOf(item));
  items.version = newVersion();
};

export const putItem = (items: Items, item: Item): void => {
  items.byId.set(item.id, item);
  items.byDir.set(item.dir, item);
  unstrange(items, item.dir);
  items.ordered = undefined;
  touch(items, item);
};

export const moveItem = (items: Items, item: Item, dir: string): void => {
  items.byDir.delete(item.dir);
  item.dir = dir;
  items.byDir.set(dir, item);
  unstrange(items, dir);
  touch(items, item);
};

export const dropItem = (items: Items, item: Item): void => {
  items.byId.delete(item.id);
  if (items.byDir.get(item.dir) === item) items.byDir.delete(item.dir);
  items.ordered = undefined;
  touch(items, item);
  items.problems.set(item.id, []);
};

/** This directory looks like a Work item's, and this is why it cannot be one. */
export const estrange = (items: Items, dir: string, problems: readonly FileProblem[]): void => {
  items.strangers.add(dir);
  items.problems.set(dir, problems);
};

export const unstrange = (items: Items, dir: string): void => {
  if (items.strangers.delete(dir)) items.problems.set(dir, []);
};

/** All Work items, oldest first. */
export const inOrder = (items: Items): Item[] => {
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
}

export interface Span {
  after: number;
  before: number;
}

export const matchesFilter = (item: Item, filter: Filter): boolean => {
  const { state, outcome, type, project, created, updated } = filter;
  const { matter } = caseOf(item);
  return (
    (state === undefined || caseStateOf(item) === state) &&
    (outcome === undefined || matter.outcome === outcome) &&
    (type === undefined || matter.type === type) &&
    (project === undefined || (matter.project ?? 'default') === project) &&
    (created === undefined || isWithin(created, Date.parse(matter.created_at))) &&
    (updated === undefined || isWithin(updated, item.files.case.written_at))
  );
};

const isWithin = ({ after, before }: Span, at: number): boolean => at > after && at < before;
