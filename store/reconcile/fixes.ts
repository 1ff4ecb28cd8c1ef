import { join } from 'node:path';
import { isSound, type ReadEntry } from '../front-matter/entry.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import { caseFile, proofDir, webhooksDir } from '../layout.ts';
import type { Store } from '../store.ts';
import { standingAfter } from './accept-change.ts';
import type { Granted } from './held-changes.ts';
import { caseOf, type Item } from './item.ts';
import { itemsOf } from './state.ts';

export interface Fix {
  path: string;
  /** Of the file that they were worked out from. */
  sha: string;
  changes: MatterChanges;
  grants?: Granted;
}

/** What hand-made files of an item lack, and what follows from its records. */
export const fixesOf = (store: Store, item: Item): Fix[] => [
  ...adoptions(store, item),
  ...followUps(store, item),
];

const adoptions = ({ layout }: Store, item: Item): Fix[] => {
  const path = join(layout.root, item.dir);
  return [
    ...adoption(caseFile(path), item.files.case),
    ...[...item.files.proofs].flatMap(([name, entry]) =>
      adoption(join(proofDir(path), name), {
        ...entry,
        value: item.held?.proofs.get(name) ?? entry.value,
      }),
    ),
    ...[...item.files.webhooks].flatMap(([name, entry]) =>
      adoption(join(webhooksDir(path), name), entry),
    ),
  ];
};

const adoption = (path: string, entry: ReadEntry<{ adopt?: MatterChanges }>): Fix[] => {
  const { sha, value } = entry;
  return value?.adopt === undefined || !isSound(entry) ? [] : [{ path, sha, changes: value.adopt }];
};

const followUps = (store: Store, item: Item): Fix[] => {
  const { case: entry, checklist } = item.files;
  if (!isSound(entry) || caseOf(item).adopt !== undefined) return [];
  // A checklist that is half saved asks for more than can be read of it.
  if (checklist?.doubted_at !== undefined) return [];
  const changes = itemsOf(store).follow(item);
  if (changes === undefined) return [];
  const path = caseFile(join(store.layout.root, item.dir));
  return [{ path, sha: entry.sha, changes, ...standingAfter(item, changes) }];
};
