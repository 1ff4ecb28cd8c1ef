import { dirname, join } from 'node:path';
import { createFile, replaceFile } from '../disk/durable.ts';
import { StoreError } from '../errors.ts';
import { assertOwn, changing, untilDone } from '../items/changing.ts';
import type { Item } from '../items/item.ts';
import { pullFile } from '../layout.ts';
import { etagOf, timeName } from '../names.ts';
import { PullMatter } from '../records/pull-request.ts';
import type { Store } from '../store.ts';
import { bodyOfText, textOfBody } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';
import { editRecord, readRecord, readRegularFile } from '../text/record-file.ts';
import { renderFrontMatter } from '../text/splice.ts';
import { storable } from '../text/storable.ts';
import { notePull } from './pull-index.ts';

/** The record of a Work item's pull request, as it is on disk. */
export interface KeptPull {
  case_id: string;
  matter: PullMatter;
  /** The body as it was last read from the host. */
  body: string;
  etag: string;
}

/** Undefined where there is none, or no such Work item. Throws `unreadable_record`. */
export const readPull = (store: Store, caseId: string): KeptPull | undefined => {
  const item = store.items.byId.get(caseId);
  return item && readIn(store, item);
};

/**
 * Writes what is known of a pull request. Of the one that the record is about only what differs is written, and what an
 * operator added stays; the record of another one goes to pr/former/ first. Undefined when there is no such Work item.
 */
export const savePull = (
  store: Store,
  caseId: string,
  { matter, body }: Pick<KeptPull, 'matter' | 'body'>,
): Promise<KeptPull | undefined> =>
  changing(store, caseId, async (item) => {
    const path = pathOf(store, item);
    const text = renderFrontMatter({ ...matter }, bodyOfText(storable(body), '\n'));
    await untilDone(`${item.dir}/pr/pr.md`, async () => {
      const before = readIn(store, item);
      if (before === undefined)
        return createFile(store.layout, path, text, { assertMeant: () => assertOwn(store, item) });
      if (isSame(before.matter, matter))
        return edit(store, path, {
          changes: { ...matter, ...isBehind(before.matter, matter) },
          body,
        });
      return replaceFormer(store, path, { before: before.matter, text });
    });
    notePull(store, item);
    return readIn(store, item);
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
): Promise<KeptPull | undefined> =>
  changing(store, caseId, async (item) => {
    const isThere = await edit(store, pathOf(store, item), change, ifMatch);
    notePull(store, item);
    return isThere ? readIn(store, item) : undefined;
  });

const edit = (
  { layout }: Store,
  path: string,
  { changes, body }: PullChange,
  ifMatch?: string,
): Promise<boolean> =>
  editRecord(layout, path, ({ sha, source }) => {
    if (ifMatch !== undefined && ifMatch !== etagOf(sha)) throw changedSince();
    return { changes, ...(body !== undefined && { body: bodyOfText(storable(body), source.eol) }) };
  });

/** What is told of a record that is another than the one that was read. */
export const changedSince = (): StoreError =>
  new StoreError(
    'precondition_failed',
    'The record of the pull request changed since you read it. Read it again and decide anew; nothing was written.',
  );

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
  path: string,
  { before, text }: { before: PullMatter; text: string },
): Promise<boolean> => {
  const bytes = readRegularFile(layout.root, path);
  if (bytes === undefined) return false;
  const name = `${before.number}-${timeName(clock())}.md`;
  await createFile(layout, join(dirname(path), 'former', name), bytes);
  return replaceFile(layout, path, bytes, text);
};

const readIn = (store: Store, item: Item): KeptPull | undefined => {
  const record = readRecord(store.layout.root, pathOf(store, item), checkerOf(PullMatter));
  if (record === undefined) return undefined;
  const { matter, source, sha } = record;
  return { case_id: item.id, matter, body: textOfBody(source), etag: etagOf(sha) };
};

const pathOf = ({ layout }: Store, { dir }: Item): string => pullFile(join(layout.root, dir));
