import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createDirectory, removeDirectory } from './durable.ts';
import { StoreError } from './errors.ts';
import { bodyOfText } from './front-matter.ts';
import { answerOf, caseOf, type Item, readItem, recordOf } from './item.ts';
import { type Filter, inOrder, matches, putItem } from './items.ts';
import { CASE_FILE, caseFile } from './layout.ts';
import { forget } from './missing.ts';
import { caseDirName, etagOf, monthOf } from './names.ts';
import { freshItem, reconcileInTurn } from './reconcile.ts';
import { editRecord } from './record-file.ts';
import type { Case, CaseMatter } from './records/case.ts';
import { renderFrontMatter } from './splice.ts';
import { readyToWrite, type Store } from './store.ts';

export interface Served {
  body: Buffer;
  etag: string;
}

/** A Work item as JSON, ready to send. It is what is on disk this moment, also when that was changed by hand. */
export const serveCase = async (store: Store, id: string): Promise<Served | undefined> => {
  const item = await freshItem(store, id);
  return item === undefined ? undefined : answerOf(item);
};

export const readCase = async (store: Store, id: string): Promise<Case | undefined> => {
  const item = await freshItem(store, id);
  return item === undefined ? undefined : recordOf(item);
};

/** All Work items that match, oldest first. */
export const listCases = (store: Store, filter: Filter): Item[] =>
  inOrder(store.items).filter((item) => matches(item, filter));

export interface NewCase {
  matter: CaseMatter;
  description: string;
}

/** Makes the directory of a new Work item, with its record in it, by one rename. */
export const createCase = (store: Store, { matter, description }: NewCase): Promise<Case> =>
  store.turns.take(matter.id, async () => {
    await readyToWrite(store);
    const dir = join(
      'cases',
      monthOf(new Date(matter.created_at)),
      caseDirName(matter.title, matter.id),
    );
    const path = join(store.layout.root, dir);
    await createDirectory(store.layout, path, {
      [CASE_FILE]: renderFrontMatter({ ...matter }, bodyOfText(description, '\n')),
    });
    const files = readItem(store.layout.root, dir);
    if (files === undefined)
      throw new StoreError('file_busy', `${dir} was removed while it was made`);
    const item: Item = { id: matter.id, dir, files, seen: undefined, answer: undefined };
    putItem(store.items, item);
    await reconcileInTurn(store, item);
    return recordOf(item);
  });

export interface CaseChange extends Partial<Omit<CaseMatter, 'id' | 'created_at'>> {
  description?: string;
}

/** A rule: from the Work item as it is to what is to change; undefined for nothing. It may throw to refuse. */
export type CaseRule = (current: Case & Pick<CaseMatter, 'blocked_from'>) => CaseChange | undefined;

/**
 * Runs a rule on the Work item as it is on disk and writes what it wants, in the item's turn: check and write cannot be
 * separated. `ifMatch` is the entity tag the caller read; another one now is `precondition_failed`.
 */
export const updateCase = (
  store: Store,
  id: string,
  rule: CaseRule,
  ifMatch?: string,
): Promise<Case | undefined> =>
  store.turns.take(id, async () => {
    const item = store.items.byId.get(id);
    if (item === undefined) return undefined;
    await readyToWrite(store);
    // What was changed by hand before is told first: two changes never melt into one event.
    await reconcileInTurn(store, item);
    await edit(store, item, rule, ifMatch);
    await reconcileInTurn(store, item);
    return recordOf(item);
  });

const edit = async (
  store: Store,
  item: Item,
  rule: CaseRule,
  ifMatch: string | undefined,
): Promise<void> => {
  const path = caseFile(join(store.layout.root, item.dir));
  const found = await editRecord(store.layout, path, ({ source, sha }) => {
    if (ifMatch !== undefined && ifMatch !== etagOf(sha)) throw changedSince();
    const { blocked_from } = caseOf(item).matter;
    const change = rule({ ...recordOf(item), ...(blocked_from !== undefined && { blocked_from }) });
    if (change === undefined) return undefined;
    const { description, ...changes } = change;
    return description === undefined
      ? { changes }
      : { changes, body: bodyOfText(description, source.eol) };
  });
  if (!found)
    throw new StoreError(
      'unreadable_record',
      `${item.dir}/case.md is gone. Put it back, then try again`,
    );
};

const changedSince = (): StoreError =>
  new StoreError(
    'precondition_failed',
    'The record changed since you read it. Read it again and decide anew; nothing was written.',
  );

/** Removes a Work item and all that belongs to it: by one rename, so that a crash leaves all or nothing. */
export const removeCase = (store: Store, id: string, ifMatch?: string): Promise<boolean> =>
  store.turns.take(id, async () => {
    const item = store.items.byId.get(id);
    if (item === undefined) return false;
    await readyToWrite(store);
    await reconcileInTurn(store, item);
    if (ifMatch !== undefined && ifMatch !== answerOf(item).etag) throw changedSince();
    const trash = await removeDirectory(store.layout, join(store.layout.root, item.dir));
    await forget(store, item);
    rm(trash, { recursive: true, force: true }).catch((error) =>
      store.report(error, `emptying ${trash}`),
    );
    return true;
  });
