import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { changedSince, StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { caseDirName, meets, monthOf } from '../base/names.ts';
import { refreshLink } from '../codehost/link-index.ts';
import { assertReadBack, entryOfCreated } from '../front-matter/entry.ts';
import { bodyOfText } from '../front-matter/front-matter.ts';
import { editKnown, type RecordEdit, unreadable } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { removeDirectory } from '../fs/directories.ts';
import { createDirectory, syncCreated } from '../fs/durable.ts';
import { untilWritten } from '../fs/retry.ts';
import { evenIfSyncFailed } from '../fs/synced.ts';
import { CASE_FILE, caseFile, transcriptFile } from '../layout.ts';
import { acceptChange, resultingState } from '../reconcile/accept-change.ts';
import { changeItem, itemMoved } from '../reconcile/change-item.ts';
import { freshItem, peekItem } from '../reconcile/fresh-item.ts';
import type { AcceptedValues } from '../reconcile/held-changes.ts';
import { answerOf, caseOf, type Item, newItem, onlyCase, recordOf } from '../reconcile/item.ts';
import { itemOf, itemsByAge, putItem } from '../reconcile/items.ts';
import { removeFromIndex } from '../reconcile/missing.ts';
import { parseCase } from '../reconcile/read-case.ts';
import { readItemFiles } from '../reconcile/read-item.ts';
import { journalOrDefer, reconcileWritten } from '../reconcile/reconcile.ts';
import type { Case, CaseMatter } from '../records/case.ts';
import { sessionsOrNone } from '../sessions/sessions.ts';
import { readyToWrite, type Store, watchRequestsOf } from '../store.ts';
import { type Filter, matchesAll, matchesFilter } from './case-filter.ts';

interface ServedCase {
  body: Buffer;
  etag: string;
}

/** The response to GET for a Work item, as it is on disk now. */
export const serveCase = async (store: Store, id: string): Promise<ServedCase | undefined> => {
  const item = await peekItem(store, id);
  return item === undefined ? undefined : answerOf(item);
};

export const readCase = async (store: Store, id: string): Promise<Case | undefined> => {
  const item = await freshItem(store, id);
  return item === undefined ? undefined : recordOf(item);
};

/** A Work item that an earlier attempt of a request may have created; it is on disk when this resolves. */
export const readCreatedCase = async (store: Store, id: string): Promise<Case | undefined> => {
  const made = await readCase(store, id);
  if (made !== undefined) await syncCreated(dirname(join(store.layout.root, made.path)));
  return made;
};

/** All Work items that match, oldest first. */
export const casesMatching = (store: Store, filter: Filter): readonly Item[] => {
  const all = itemsByAge(store);
  return matchesAll(filter) ? all : all.filter((item) => matchesFilter(item, filter));
};

interface CaseFiles {
  matter: CaseMatter;
  description: string;
  /** Further files of the new directory, by name. */
  files?: Record<string, string>;
}

/** Creates the directory of a new Work item with all its files, by one rename. */
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
    // Parsed before it is written, so that no unreadable record is created.
    const value = parseCase(text);
    const made = createDirectory(store.layout, path, { ...files, [CASE_FILE]: text });
    return evenIfSyncFailed(made, () => {
      const entry = entryOfCreated(caseFile(path), text, value);
      if (entry === undefined)
        throw new StoreError('file_busy', `${dir} was moved or removed while it was created`);
      const item = { id: matter.id, dir, files: onlyCase(entry), seen: undefined };
      return indexNew(store, newItem(item));
    });
  });

const indexNew = async (store: Store, item: Item): Promise<Case> => {
  putItem(store, item);
  refreshLink(store, item);
  watchRequestsOf(store).watch(item.dir, 'item');
  await journalOrDefer(store, item);
  return recordOf(item);
};

export interface CaseChange extends Partial<Omit<CaseMatter, 'id' | 'created_at'>> {
  description?: string;
}

/** Computes the change of a Work item; undefined for none. It may throw to refuse. */
export type CaseRule = (current: Case & Pick<CaseMatter, 'blocked_from'>) => CaseChange | undefined;

/**
 * Applies a rule to the Work item as it is on disk, under its lock. `ifMatch` is the entity tag that the caller read; throws
 * `precondition_failed` if it changed.
 */
export const updateCase = (
  store: Store,
  id: string,
  rule: CaseRule,
  ifMatch?: string,
): Promise<ChangedCase | undefined> =>
  changeItem(store, id, async (item) => {
    const attempt = () => changeCaseOnce(store, item, rule, ifMatch);
    await untilWritten(`${item.dir}/${CASE_FILE}`, attempt);
    return {
      record: recordOf(item),
      ...(itemOf(store, id) !== undefined && { served: answerOf(item) }),
    };
  });

/** A Work item right after a write, before its lock is released. */
interface ChangedCase {
  record: Case;
  /** The response to GET; undefined if the Work item was removed meanwhile. */
  served?: ServedCase;
}

/** One attempt of `updateCase`, under the lock of the Work item; false if the file was saved by another program meanwhile. */
export const changeCaseOnce = async (
  store: Store,
  item: Item,
  rule: CaseRule,
  ifMatch?: string,
): Promise<boolean> => {
  const done = await editCaseFile(store, item, rule, ifMatch);
  await reconcileWritten(store, item);
  assertReadBack(item.files.case);
  return done;
};

// Returns false if the file changed since it was read: a rule must not decide on an old record.
const editCaseFile = async (
  store: Store,
  item: Item,
  rule: CaseRule,
  ifMatch: string | undefined,
): Promise<boolean> => {
  const { problem, sha: known } = item.files.case;
  if (problem !== undefined) throw unreadable(`${item.dir}/${CASE_FILE}`, problem);
  if (!meets(ifMatch, answerOf(item).etag)) throw changedSince('The record');
  let accepted: AcceptedValues | undefined;
  const path = caseFile(join(store.layout.root, item.dir));
  const isDone = await editKnown(store.layout, path, known, ({ source }) => {
    const change = rule(ruledRecord(item));
    const after = change && resultingState(item, change);
    accepted = after?.accepts;
    return editOf(after === undefined ? change : (after.changes as CaseChange), source.eol);
  });
  if (isDone && accepted !== undefined) acceptChange(store, item, accepted);
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

/** Removes a Work item with all its files, by one rename, so that a crash leaves all or nothing. */
export const deleteCase = async (store: Store, id: string, ifMatch?: string): Promise<boolean> => {
  const removed = await changeItem(store, id, async (item) => {
    // A disk fault at one does not keep the Work item: the sweep removes transcripts that are left.
    const sessions = sessionsOrNone(store, id);
    const taken = moveToTrash(store, item, ifMatch);
    await evenIfSyncFailed(taken, () => removeFromIndex(store, item));
    for (const { session } of sessions)
      await removeOrReport(store, transcriptFile(store.layout, session.id));
    void removeOrReport(store, await taken);
    return true;
  });
  return removed === true;
};

const removeOrReport = (store: Store, path: string): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch((error) =>
    store.report(error, `removing ${path}`),
  );

// A directory that was edited or swapped since the caller read it is moved back.
const moveToTrash = async ({ layout }: Store, item: Item, ifMatch?: string): Promise<string> => {
  if (!meets(ifMatch, answerOf(item).etag)) throw changedSince('The record');
  const { sha } = item.files.case;
  const trash = await removeDirectory(layout, join(layout.root, item.dir), (taken) => {
    const found = readItemFiles(dirname(taken), basename(taken), { id: item.id })?.case;
    return found?.problem?.code !== 'wrong_id' && (ifMatch === undefined || found?.sha === sha);
  });
  if (trash !== undefined) return trash;
  throw ifMatch === undefined ? itemMoved(item) : changedSince('The record');
};
