import { dirname, join } from 'node:path';
import { changedSince } from '../base/errors.ts';
import { etagOf, timeName } from '../base/names.ts';
import { inSlices } from '../base/slices.ts';
import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { bodyOfText, textOfBody } from '../front-matter/front-matter.ts';
import { parserOf } from '../front-matter/parse.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/storable.ts';
import { createFile, replaceFile } from '../fs/durable.ts';
import { untilDone } from '../fs/until-done.ts';
import { pullFile } from '../layout.ts';
import { changingItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf } from '../reconcile/items.ts';
import { type Kept, type Rule, recordKind } from '../reconcile/sidecar-records.ts';
import { PullMatter } from '../records/pull-request.ts';
import { remembered, type Store } from '../store.ts';

/** The record of a Work item's pull request; its body as it was last read from the host. */
export type StoredPull = Kept<PullMatter, { body: string }>;

const pulls = recordKind({
  schema: PullMatter,
  path: pullFile,
  parts: (source) => ({ body: textOfBody(source) }),
});

/** Undefined where there is none, or no such Work item. Throws `unreadable_record`. */
export const readPull = pulls.read;

/**
 * Writes what is known of a pull request. Of the one that the record is about only what differs is written, and what an
 * operator added stays; the record of another one goes to pr/former/ first. Undefined when there is no such Work item.
 */
export const savePull = (
  store: Store,
  caseId: string,
  { matter, body }: Pick<StoredPull, 'matter' | 'body'>,
): Promise<StoredPull | undefined> =>
  changingItem(store, caseId, async (item) => {
    const text = renderFrontMatter({ ...matter }, bodyOfText(storable(body), '\n'));
    await untilDone(`${item.dir}/pr/pr.md`, async () => {
      const before = pulls.readIn(store, item);
      if (before === undefined) return pulls.createIn(store, item, text);
      if (!isSame(before.matter, matter)) return replaceFormer(store, before, text);
      const changes = { ...matter, ...isBehind(before.matter, matter) };
      const place = pulls.at(store, item);
      return (await pulls.editOnceAt(store, place, editOf({ changes, body }))) === 'there';
    });
    notePull(store, item);
    return pulls.readIn(store, item);
  });

export interface PullChange {
  changes: Partial<PullMatter>;
  body?: string;
}

/**
 * Changes some of what is known. `ifMatch` is the entity tag that the caller read: `precondition_failed` when the file is
 * another by now. Undefined when there is no record.
 */
export const changePull = (
  store: Store,
  caseId: string,
  change: PullChange,
  ifMatch?: string,
): Promise<StoredPull | undefined> =>
  changingItem(store, caseId, async (item) => {
    const isThere = await pulls.editAt(store, pulls.at(store, item), editOf(change, ifMatch));
    notePull(store, item);
    return isThere ? pulls.readIn(store, item) : undefined;
  });

const editOf =
  ({ changes, body }: PullChange, ifMatch?: string): Rule<unknown> =>
  ({ sha, source }) => {
    if (ifMatch !== undefined && ifMatch !== etagOf(sha)) throw pullChanged();
    return { changes, ...(body !== undefined && { body: bodyOfText(storable(body), source.eol) }) };
  };

/** What is told of a record that is another than the one that was read. */
export const pullChanged = (): Error => changedSince('The record of the pull request');

// What a webhook told while the host was asked may be newer than what that one answered.
const isBehind = (
  { told_at }: PullMatter,
  { updated_at }: PullMatter,
): Pick<PullMatter, 'stale'> => ((told_at ?? '') > (updated_at ?? '') ? { stale: true } : {});

const isSame = (a: PullMatter, b: PullMatter): boolean =>
  a.number === b.number && a.repository === b.repository && a.host === b.host;

// What was known of the one before stays, in a file of its own.
const replaceFormer = async (
  { layout, clock }: Store,
  { path, matter: { number } }: StoredPull,
  text: string,
): Promise<boolean> => {
  const bytes = readRegularFile(layout.root, path);
  if (bytes === undefined) return false;
  const name = `${number}-${timeName(clock())}.md`;
  await createFile(layout, join(dirname(path), 'former', name), bytes);
  return replaceFile(layout, path, bytes, text);
};

/**
 * The records of all pull requests, as pr/pr.md said when it was last looked at: after the start, at every hint, at every
 * sweep and after each write. What is wrong with one is told elsewhere.
 */
interface PullIndex {
  /** Whether all Work items were looked at since the start. */
  complete: boolean;
  readonly byItem: Map<string, ReadEntry<PullMatter>>;
}

const pullsOf = remembered((): PullIndex => ({ complete: false, byItem: new Map() }));

const parsePull = parserOf(PullMatter);

/** Looks at pr/pr.md of a Work item. */
export const notePull = (store: Store, { id, dir }: Item): void => {
  const { byItem } = pullsOf(store);
  const path = pullFile(join(store.layout.root, dir));
  const entry = readEntry(path, { before: byItem.get(id), parse: parsePull });
  if (entry === undefined) byItem.delete(id);
  else byItem.set(id, entry);
};

/** Forgets those of Work items that are gone. */
export const dropPulls = (store: Store): void => {
  const { byItem } = pullsOf(store);
  for (const id of byItem.keys()) if (itemOf(store, id) === undefined) byItem.delete(id);
};

/** Whether a Work item has the record of one, as memory knows it. */
export const hasPull = (store: Store, id: string): boolean => pullsOf(store).byItem.has(id);

/** The Work items whose pull request is such a one. Looks at memory only, but for the first time. */
export const pullsWhere = async (
  store: Store,
  isIt: (pull: PullMatter) => boolean,
): Promise<string[]> => {
  if (!pullsOf(store).complete) {
    await inSlices(allItems(store), (item) => notePull(store, item));
    pullsOf(store).complete = true;
  }
  return [...pullsOf(store).byItem].flatMap(([id, { value }]) =>
    value !== undefined && itemOf(store, id) !== undefined && isIt(value) ? [id] : [],
  );
};
