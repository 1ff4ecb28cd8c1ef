import { dirname, join } from 'node:path';
import { inSlices } from '../base/async.ts';
import { changedSince, StoreError } from '../base/errors.ts';
import { etagOf, meets, timeName } from '../base/names.ts';
import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { bodyOfText, textOfBody } from '../front-matter/front-matter.ts';
import { parserOf } from '../front-matter/parse.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/text.ts';
import { createFile, replaceFile } from '../fs/durable.ts';
import { untilWritten } from '../fs/retry.ts';
import { pullDraftFile, pullFile } from '../layout.ts';
import { changeItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf } from '../reconcile/items.ts';
import { type Rule, type StoredRecord, sidecarRecords } from '../reconcile/sidecar-records.ts';
import { PullDraftMatter, PullMatter } from '../records/pull-request.ts';
import { remembered, type Store } from '../store.ts';

/** The record of a Work item's pull request, with the body as last fetched from the host. */
export type StoredPull = StoredRecord<PullMatter, { body: string }>;

const pulls = sidecarRecords({
  schema: PullMatter,
  path: pullFile,
  parts: (source) => ({ body: textOfBody(source) }),
});

/** Undefined if there is none, or no such Work item. Throws `unreadable_record`. */
export const readPull = pulls.read;

/**
 * Saves the record of a pull request. Of the same pull request only differing fields are written, and keys that the operator
 * added stay; the record of another pull request is moved to pr/former/ first. Undefined if there is no such Work item.
 */
export const savePull = (
  store: Store,
  caseId: string,
  { matter, body }: Pick<StoredPull, 'matter' | 'body'>,
): Promise<StoredPull | undefined> =>
  changeItem(store, caseId, async (item) => {
    const text = renderFrontMatter({ ...matter }, bodyOfText(storable(body), '\n'));
    await untilWritten(`${item.dir}/pr/pr.md`, async () => {
      const before = pulls.readIn(store, item);
      if (before === undefined) return pulls.createIn(store, item, text);
      if (!isSame(before.matter, matter)) return replaceFormer(store, before, text);
      const changes = { ...matter, ...staleMark(before.matter, matter) };
      const place = pulls.at(store, item);
      return (await pulls.editOnceAt(store, place, editOf({ changes, body }))) === 'there';
    });
    refreshPull(store, item);
    return pulls.readIn(store, item);
  });

export interface PullChange {
  changes: Partial<PullMatter>;
  body?: string;
}

/**
 * Changes fields of the record. `ifMatch` is the entity tag that the caller read; throws `precondition_failed` if it
 * changed. Undefined if there is no record.
 */
export const changePull = (
  store: Store,
  caseId: string,
  change: PullChange,
  ifMatch?: string,
): Promise<StoredPull | undefined> =>
  changeItem(store, caseId, async (item) => {
    const isThere = await pulls.editAt(store, pulls.at(store, item), editOf(change, ifMatch));
    refreshPull(store, item);
    return isThere ? pulls.readIn(store, item) : undefined;
  });

const editOf =
  ({ changes, body }: PullChange, ifMatch?: string): Rule<unknown> =>
  ({ sha, source }) => {
    if (!meets(ifMatch, etagOf(sha))) throw pullPreconditionFailed();
    return { changes, ...(body !== undefined && { body: bodyOfText(storable(body), source.eol) }) };
  };

/** The error for a record that changed since it was read. */
export const pullPreconditionFailed = (): Error => changedSince('The record of the pull request');

// A webhook that arrived during the request may be newer than the response.
const staleMark = (
  { told_at }: PullMatter,
  { updated_at }: PullMatter,
): Pick<PullMatter, 'stale'> => ((told_at ?? '') > (updated_at ?? '') ? { stale: true } : {});

// A renamed repository keeps the ids of its pull requests.
const isSame = (a: PullMatter, b: PullMatter): boolean =>
  a.number === b.number &&
  a.host === b.host &&
  (a.repository === b.repository || (a.node_id != null && a.node_id === b.node_id));

// Keeps the record of the previous pull request in a file of its own.
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
 * The records of all pull requests, from the last reading of each pr/pr.md: after the start, at hints and sweeps, and after
 * each write. Problems are reported elsewhere.
 */
interface PullIndex {
  /** Whether the records of all Work items were read since the start. */
  complete: boolean;
  readonly byItem: Map<string, ReadEntry<PullMatter>>;
}

const pullsOf = remembered((): PullIndex => ({ complete: false, byItem: new Map() }));

const parsePull = parserOf(PullMatter);

/** Reads pr/pr.md of a Work item into the index. */
export const refreshPull = (store: Store, { id, dir }: Item): void => {
  const { byItem } = pullsOf(store);
  const path = pullFile(join(store.layout.root, dir));
  const entry = readEntry(path, { before: byItem.get(id), parse: parsePull });
  if (entry === undefined) byItem.delete(id);
  else byItem.set(id, entry);
};

/** Removes the records of Work items that are gone. */
export const dropPulls = (store: Store): void => {
  const { byItem } = pullsOf(store);
  for (const id of byItem.keys()) if (itemOf(store, id) === undefined) byItem.delete(id);
};

/** Whether a Work item has a pull request, from the index. */
export const hasPull = (store: Store, id: string): boolean => pullsOf(store).byItem.has(id);

/** The Work items with a matching pull request, from the index. Reads the disk only the first time. */
export const pullsWhere = async (
  store: Store,
  isIt: (pull: PullMatter) => boolean,
): Promise<string[]> => {
  if (!pullsOf(store).complete) {
    await inSlices(allItems(store), (item) => refreshPull(store, item));
    pullsOf(store).complete = true;
  }
  return [...pullsOf(store).byItem].flatMap(([id, { value }]) =>
    value !== undefined && itemOf(store, id) !== undefined && isIt(value) ? [id] : [],
  );
};

/** The draft of a pull request, as composed and perhaps edited by hand. */
export type StoredPullDraft = StoredRecord<PullDraftMatter, { body: string }>;

const drafts = sidecarRecords({
  schema: PullDraftMatter,
  path: pullDraftFile,
  parts: (source) => ({ body: textOfBody(source) }),
});

/** Undefined if there is no draft. Throws `unreadable_record`. */
export const readPullDraft = drafts.read;

/**
 * Writes the draft; the previous one stays under `.dossier/undo`. `seen` is the entity tag of the draft that this one was
 * made from, null for none; throws `file_busy` if it changed. Undefined if there is no such Work item.
 */
export const savePullDraft = (
  store: Store,
  caseId: string,
  { matter, body }: Pick<StoredPullDraft, 'matter' | 'body'>,
  seen?: string | null,
): Promise<StoredPullDraft | undefined> =>
  changeItem(store, caseId, async (item) => {
    const bodyIn = (eol: '\n' | '\r\n') => bodyOfText(storable(body), eol);
    const rule: Rule<StoredPullDraft> = ({ sha, source }) => {
      if (seen !== undefined && seen !== etagOf(sha)) throw draftChanged(item);
      return { changes: { ...matter }, body: bodyIn(source.eol) };
    };
    await drafts.saveIn(store, item, rule, renderFrontMatter({ ...matter }, bodyIn('\n')));
    return drafts.readIn(store, item);
  });

const draftChanged = ({ dir }: Item): StoreError =>
  new StoreError('file_busy', `${dir}/pr/draft.md was edited meanwhile. Try again`);
