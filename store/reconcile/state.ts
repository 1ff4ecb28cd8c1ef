import type { MatterChanges } from '../front-matter/splice.ts';
import type { ToldState } from '../journal/journal-state.ts';
import { remembered, type Store } from '../store.ts';
import type { Item } from './item.ts';
import type { ItemFiles } from './item-files.ts';

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
