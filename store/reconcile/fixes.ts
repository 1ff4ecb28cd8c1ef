import { join } from 'node:path';
import { notFollowed } from '../base/write-stage.ts';
import { isSound, type ReadEntry } from '../front-matter/entry.ts';
import { editKnown } from '../front-matter/record-file.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import { isGitReplaying } from '../fs/git-work.ts';
import { caseFile, proofDir, webhooksDir } from '../layout.ts';
import type { Store } from '../store.ts';
import { grant, standingAfter } from './accept-change.ts';
import type { Granted } from './held-changes.ts';
import { caseOf, type Item } from './item.ts';
import { itemsOf, standingOf } from './items.ts';

interface Fix {
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

/**
 * Writes what hand-made files lack and what follows from the records. True when something was written. Not while git
 * replays commits: it would refuse to go on. The sweep after that finds it undone, and so it finds what could not be written.
 */
export const settle = async (store: Store, item: Item): Promise<boolean> => {
  const fixes = fixesOf(store, item);
  if (fixes.length === 0) return false;
  const failed = isGitReplaying(store.layout) ? fixes : await mendAll(store, item, fixes);
  if (failed.length < fixes.length) return true;
  item.told = undefined;
  return false;
};

/** Returns those that failed. */
const mendAll = async (store: Store, item: Item, fixes: readonly Fix[]): Promise<Fix[]> => {
  const failed: Fix[] = [];
  for (const fix of fixes) {
    await mend(store, item, fix).catch((error) => {
      // One that was moved meanwhile is mended where it is now.
      if (standingOf(store, item) !== 'there') return;
      store.report(error, `mending ${fix.path}`);
      failed.push(fix);
    });
  }
  return failed;
};

const mend = async (
  store: Store,
  item: Item,
  { path, sha, changes, grants }: Fix,
): Promise<void> => {
  const isDone = await notFollowed(() => editKnown(store.layout, path, sha, () => ({ changes })));
  if (isDone && grants !== undefined) grant(store, item, grants);
};
