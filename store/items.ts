import { type Item, problemsOf, stateOf } from './item.ts';
import type { FileProblem } from './problem.ts';
import type { State } from './records/case.ts';

/**
 * The Work items in memory: what a list or a look-up needs without touching the disk. It holds nothing that the
 * directories do not say.
 */
export interface Items {
  readonly byId: Map<string, Item>;
  readonly byDir: Map<string, Item>;
  /** Directories that look like Work items and cannot be one: a second one with the same id, a case.md that never was readable. */
  readonly strangers: Map<string, FileProblem>;
  /** Grows with every change, and no other workspace of this process has it: a list answered at it can be sent again. */
  version: number;
  ordered: Item[] | undefined;
}

let versions = 0;
const newVersion = (): number => {
  versions += 1;
  return versions;
};

export const createItems = (): Items => ({
  byId: new Map(),
  byDir: new Map(),
  strangers: new Map(),
  version: newVersion(),
  ordered: undefined,
});

/** The item changed: ready answers are thrown away. */
export const touch = (items: Items, item: Item): void => {
  item.answer = undefined;
  items.version = newVersion();
};

export const putItem = (items: Items, item: Item): void => {
  items.byId.set(item.id, item);
  items.byDir.set(item.dir, item);
  items.strangers.delete(item.dir);
  items.ordered = undefined;
  touch(items, item);
};

export const moveItem = (items: Items, item: Item, dir: string): void => {
  items.byDir.delete(item.dir);
  item.dir = dir;
  items.byDir.set(dir, item);
  items.strangers.delete(dir);
  touch(items, item);
};

export const dropItem = (items: Items, item: Item): void => {
  items.byId.delete(item.id);
  if (items.byDir.get(item.dir) === item) items.byDir.delete(item.dir);
  items.ordered = undefined;
  touch(items, item);
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
}

export const matches = (item: Item, { state, outcome }: Filter): boolean =>
  (state === undefined || stateOf(item) === state) &&
  (outcome === undefined || item.files.case.value?.matter.outcome === outcome);

/** Every file that cannot be used as the record it should be. */
export const allProblems = (items: Items): FileProblem[] => [
  ...items.strangers.values(),
  ...[...items.byId.values()].flatMap(problemsOf),
];
