import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { changedSince, StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { caseDirName, monthOf } from '../base/names.ts';
import { noteLink } from '../codehost/link-index.ts';
import { assertReadBack, entryOfNew } from '../front-matter/entry.ts';
import { bodyOfText } from '../front-matter/front-matter.ts';
import { editKnown, type RecordEdit, unreadable } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { removeDirectory } from '../fs/directories.ts';
import { createDirectory, syncMade } from '../fs/durable.ts';
import { untilDone } from '../fs/retry.ts';
import { evenIfPlaced } from '../fs/synced.ts';
import { CASE_FILE, caseFile, transcriptFile } from '../layout.ts';
import { grant, standingAfter } from '../reconcile/accept-change.ts';
import { changingItem, movedAway } from '../reconcile/changing.ts';
import type { Granted } from '../reconcile/held-changes.ts';
import { answerOf, caseOf, type Item, newItem, recordOf } from '../reconcile/item.ts';
import { readItem } from '../reconcile/item-files.ts';
import { type Filter, inOrder, itemOf, matchesFilter, putItem } from '../reconcile/items.ts';
import { forgetItem } from '../reconcile/missing.ts';
import { glance } from '../reconcile/peek.ts';
import { parseCase } from '../reconcile/read-case.ts';
import { freshItem, reconcileWritten, tellSoon } from '../reconcile/reconcile.ts';
import type { Case, CaseMatter } from '../records/case.ts';
import { sessionsOf } from '../sessions/sessions.ts';
import { attentionOf, readyToWrite, type Store } from '../store.ts';

export interface ServedCase {
  body: Buffer;
  etag: string;
}

/** A Work item as JSON, ready to send. It is what is on disk this moment, also when that was changed by hand. */
export const serveCase = async (store: Store, id: string): Promise<ServedCase | undefined> => {
  const item = await glance(store, id);
  return item === undefined ? undefined : answerOf(item);
};

export const readCase = async (store: Store, id: string): Promise<Case | undefined> => {
  const item = await freshItem(store, id);
  return item === undefined ? undefined : recordOf(item);
};

/** One that a call may have made before it failed; it is on disk when this resolves. */
export const readMade = async (store: Store, id: string): Promise<Case | undefined> => {
  const made = await readCase(store, id);
  if (made !== undefined) await syncMade(dirname(join(store.layout.root, made.path)));
  return made;
};

/** All Work items that match, oldest first. */
export const casesMatching = (store: Store, filter: Filter): Item[] =>
  inOrder(store).filter((item) => matchesFilter(item, filter));

export interface CaseFiles {
  matter: CaseMatter;
  description: string;
  /** What else is in its directory from the beginning, by name. */
  files?: Record<string, string>;
}

/** Makes the directory of a new Work item, with its record in it, by one rename: it is there with all its files or not. */
export const insertCase = (
  store: Store,
  { matter, description, files = {} }: CaseFiles,
): Promise<Case> =>
  store.locks.take(lockOn.item(matter.id), async () => {
    await readyToWrite(store);
    const dir = join(
      'cases',
      monthOf(new Date(matter.created_at)),
      caseDirName(matter.title, matter.id),
    );
    const path = join(store.layout.root, dir);
    const text = renderFrontMatter({ ...matter }, bodyOfText(description, '\n'));
    // Read before it is written: what could not be read back is not written at all.
    const value = parseCase(text);
    const made = createDirectory(store.layout, path, { ...files, [CASE_FILE]: text });
    return evenIfPlaced(made, () => {
      const entry = entryOfNew(caseFile(path), text, value);
      if (entry === undefined)
        throw new StoreError('file_busy', `${dir} was moved or removed while it was made`);
      return keepNew(store, newItem(matter.id, dir, entry));
    });
  });

const keepNew = async (store: Store, item: Item): Promise<Case> => {
  putItem(store, item);
  noteLink(store, item);
  attentionOf(store).watch(item.dir, 'item');
  await tellSoon(store, item);
  return recordOf(item);
};

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
): Promise<ChangedCase | undefined> =>
  changingItem(store, id, async (item) => {
    const attempt = () => changeCaseOnce(store, item, rule, ifMatch);
    await untilDone(`${item.dir}/${CASE_FILE}`, attempt);
    return {
      record: recordOf(item),
      ...(itemOf(store, id) !== undefined && { served: answerOf(item) }),
    };
  });

/** A Work item as it is when a write is done, in its turn still. */
export interface ChangedCase {
  record: Case;
  /** What GET answers then; undefined when the Work item was removed meanwhile. */
  served?: ServedCase;
}

/** One attempt of it, for whoever has the Work item's turn: false where somebody saved the file in between. */
export const changeCaseOnce = async (
  store: Store,
  item: Item,
  rule: CaseRule,
  ifMatch?: string,
): Promise<boolean> => {
  const done = await edit(store, item, rule, ifMatch);
  await reconcileWritten(store, item);
  assertReadBack(item.files.case);
  return done;
};

// False when the file is no longer the one that the record was read from: the rule must not decide on an old record.
const edit = async (
  store: Store,
  item: Item,
  rule: CaseRule,
  ifMatch: string | undefined,
): Promise<boolean> => {
  const { problem, sha: known } = item.files.case;
  if (problem !== undefined) throw unreadable(`${item.dir}/${CASE_FILE}`, problem);
  if (ifMatch !== undefined && ifMatch !== answerOf(item).etag) throw changedSince('The record');
  let granted: Granted | undefined;
  const path = caseFile(join(store.layout.root, item.dir));
  const isDone = await editKnown(store.layout, path, known, ({ source }) => {
    const change = rule(ruledRecord(item));
    const after = change && standingAfter(item, change);
    granted = after?.grants;
    return editOf(after === undefined ? change : (after.changes as CaseChange), source.eol);
  });
  if (isDone && granted !== undefined) grant(store, item, granted);
  return isDone;
};

const ruledRecord = (item: Item): Parameters<CaseRule>[0] => {
  const { blocked_from } = caseOf(item).matter;
  return { ...recordOf(item), ...(blocked_from !== undefined && { blocked_from }) };
};

const editOf = (change: CaseChange | undefined, eol: '\n' | '\r\n'): RecordEdit | undefined => {
  if (change === undefined) return undefined;
  const { description, ...changes } = change;
  return description === undefined ? { changes } : { changes, body: bodyOfText(description, eol) };
};

/** Removes a Work item and all that belongs to it: by one rename, so that a crash leaves all or nothing. */
export const deleteCase = async (store: Store, id: string, ifMatch?: string): Promise<boolean> => {
  const removed = await changingItem(store, id, async (item) => {
    const sessions = sessionsOf(store, id) ?? [];
    const taken = takeOut(store, item, ifMatch);
    await evenIfPlaced(taken, () => forgetItem(store, item));
    for (const { session } of sessions) await drop(store, transcriptFile(store.layout, session.id));
    void drop(store, await taken);
    return true;
  });
  return removed === true;
};

const drop = (store: Store, path: string): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch((error) =>
    store.report(error, `emptying ${path}`),
  );

// What was edited, or changed places with another, while nobody looked is not what the caller meant: it goes back.
const takeOut = async ({ layout }: Store, item: Item, ifMatch?: string): Promise<string> => {
  if (ifMatch !== undefined && ifMatch !== answerOf(item).etag) throw changedSince('The record');
  const { sha } = item.files.case;
  const trash = await removeDirectory(layout, join(layout.root, item.dir), (taken) => {
    const found = readItem(dirname(taken), basename(taken), { id: item.id })?.case;
    return found?.problem?.code !== 'wrong_id' && (ifMatch === undefined || found?.sha === sha);
  });
  if (trash !== undefined) return trash;
  throw ifMatch === undefined ? movedAway(item) : changedSince('The record');
};
