import { join } from 'node:path';
import { withoutTracking } from '../base/write-stage.ts';
import { isSound, type ReadEntry } from '../front-matter/entry.ts';
import { editKnown } from '../front-matter/record-file.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import { isGitReplaying } from '../fs/git-dir.ts';
import { caseFile, proofDir, webhooksDir } from '../layout.ts';
import type { Store } from '../store.ts';
import { acceptChange, resultingState } from './accept-change.ts';
import type { AcceptedValues } from './held-changes.ts';
import { caseOf, type Item } from './item.ts';
import { directoryStatusOf, itemsOf } from './items.ts';

interface Fix {
  path: string;
  /** Hash of the file that the changes were computed from. */
  sha: string;
  changes: MatterChanges;
  accepts?: AcceptedValues;
}

/** The writes that a Work item needs: fields that hand-made files lack, and what follows from its records. */
export const fixesOf = (store: Store, item: Item): Fix[] => [
  ...missingFields(store, item),
  ...followUps(store, item),
];

const missingFields = ({ layout }: Store, item: Item): Fix[] => {
  const path = join(layout.root, item.dir);
  return [
    ...missingFieldsOf(caseFile(path), item.files.case),
    ...[...item.files.proofs].flatMap(([name, entry]) =>
      missingFieldsOf(join(proofDir(path), name), {
        ...entry,
        value: item.held?.proofs.get(name) ?? entry.value,
      }),
    ),
    ...[...item.files.webhooks].flatMap(([name, entry]) =>
      missingFieldsOf(join(webhooksDir(path), name), entry),
    ),
  ];
};

const missingFieldsOf = (path: string, entry: ReadEntry<{ adopt?: MatterChanges }>): Fix[] => {
  const { sha, value } = entry;
  return value?.adopt === undefined || !isSound(entry) ? [] : [{ path, sha, changes: value.adopt }];
};

const followUps = (store: Store, item: Item): Fix[] => {
  const { case: entry, checklist } = item.files;
  if (!isSound(entry) || caseOf(item).adopt !== undefined) return [];
  // A half-saved checklist may require more than it shows.
  if (checklist?.doubted_at !== undefined) return [];
  const changes = itemsOf(store).follow(item);
  if (changes === undefined) return [];
  const path = caseFile(join(store.layout.root, item.dir));
  return [{ path, sha: entry.sha, changes, ...resultingState(item, changes) }];
};

/**
 * Writes the fixes of a Work item; returns true if any was written. While git replays commits nothing is written, since git
 * would refuse to continue. The next sweep retries what is left.
 */
export const applyFixes = async (store: Store, item: Item): Promise<boolean> => {
  const fixes = fixesOf(store, item);
  if (fixes.length === 0) return false;
  const failed = isGitReplaying(store.layout) ? fixes : await applyEach(store, item, fixes);
  if (failed.length < fixes.length) return true;
  item.journaledFiles = undefined;
  return false;
};

/** Returns the fixes that failed. */
const applyEach = async (store: Store, item: Item, fixes: readonly Fix[]): Promise<Fix[]> => {
  const failed: Fix[] = [];
  for (const fix of fixes) {
    await applyFix(store, item, fix).catch((error) => {
      // A directory that was moved meanwhile is fixed at its new place.
      if (directoryStatusOf(store, item) !== 'there') return;
      store.report(error, `completing ${fix.path}`);
      failed.push(fix);
    });
  }
  return failed;
};

const applyFix = async (
  store: Store,
  item: Item,
  { path, sha, changes, accepts }: Fix,
): Promise<void> => {
  const isDone = await withoutTracking(() =>
    editKnown(store.layout, path, sha, () => ({ changes })),
  );
  if (isDone && accepts !== undefined) acceptChange(store, item, accepts);
};
