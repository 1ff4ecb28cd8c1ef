import { hasCode } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { unreadable } from '../front-matter/record-file.ts';
import { createFile } from '../fs/durable.ts';
import type { Standing } from '../fs/plain-path.ts';
import { CASE_FILE } from '../layout.ts';
import { readyToWrite, type Store } from '../store.ts';
import type { Item } from './item.ts';
import { directoryStatusOf, itemOf } from './items.ts';
import { readItemFiles } from './read-item.ts';
import { reconcileLocked } from './reconcile.ts';

/**
 * Runs a write under the lock of the Work item. Earlier changes by hand are journaled first, so that two changes never share
 * an event. Returns undefined if there is no such Work item; throws `file_busy` while its directory is missing.
 */
export const changeItem = <T>(
  store: Store,
  id: string,
  work: (item: Item) => Promise<T>,
): Promise<T | undefined> =>
  store.locks.take(lockOn.item(id), async () => {
    const item = itemOf(store, id);
    if (item === undefined) return undefined;
    await readyToWrite(store);
    assertPresent(item, await reconcileLocked(store, item));
    const answer = await work(item).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) {
        assertPresent(item, directoryStatusOf(store, item));
        assertItemAt(store, item);
      }
      throw error;
    });
    // The directory was moved during the write, so there is no record to return.
    if (itemOf(store, id) !== undefined && directoryStatusOf(store, item) !== 'there')
      throw movedWhileWritten(item);
    return answer;
  });

// Refuses writes if the directory was moved, or replaced by another Work item's.
const assertPresent = (item: Item, at: Standing): void => {
  const { dir, files } = item;
  const { problem } = files.case;
  const isOthers = at === 'there' && problem?.code === 'wrong_id';
  if (problem !== undefined && (isOthers || at === 'closed'))
    throw unreadable(`${dir}/${CASE_FILE}`, problem);
  if (at !== 'there') throw itemMoved(item);
};

/** Creates a file of the Work item; returns false if it exists. */
export const createItemFile = (
  store: Store,
  item: Item,
  path: string,
  content: string | Buffer,
): Promise<boolean> =>
  createFile(store.layout, path, content, { assertMeant: () => assertItemAt(store, item) });

/** Throws `file_busy` if the directory now belongs to another Work item. */
export const assertItemAt = ({ layout: { root } }: Store, item: Item): void => {
  const { id, dir, files } = item;
  if (readItemFiles(root, dir, { id, files })?.case.problem?.code === 'wrong_id')
    throw itemMoved(item);
};

const movedWhileWritten = ({ dir }: Item): StoreError =>
  new StoreError('may_be_written', `${dir} was moved or removed while it was written`);

export const itemMoved = ({ dir }: Item): StoreError =>
  new StoreError('file_busy', `${dir} was moved or removed a moment ago. Try again`);
