import { StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { unreadable } from '../front-matter/record-file.ts';
import { createFile, hasCode } from '../fs/durable.ts';
import type { Standing } from '../fs/plain-path.ts';
import { CASE_FILE } from '../layout.ts';
import { readyToWrite, type Store } from '../store.ts';
import type { Item } from './item.ts';
import { itemOf, standingOf } from './items.ts';
import { readItem } from './read-item.ts';
import { reconcileInTurn } from './reconcile.ts';

/**
 * Runs work on a Work item in its turn, ready to write. What was changed by hand before is told first: two changes never
 * melt into one event. Undefined when there is no such Work item; `file_busy` while its directory is not where it was,
 * so that nothing is written where nobody would find it.
 */
export const changingItem = <T>(
  store: Store,
  id: string,
  work: (item: Item) => Promise<T>,
): Promise<T | undefined> =>
  store.locks.take(lockOn.item(id), async () => {
    const item = itemOf(store, id);
    if (item === undefined) return undefined;
    await readyToWrite(store);
    refuseAway(item, await reconcileInTurn(store, item));
    const answer = await work(item).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) {
        refuseAway(item, standingOf(store, item));
        assertOwn(store, item);
      }
      throw error;
    });
    // What was written went along, and nobody has seen it where it is now: there is no record to answer with.
    if (itemOf(store, id) !== undefined && standingOf(store, item) !== 'there')
      throw wentAway(item);
    return answer;
  });

// What is meant for a Work item must not reach what stands in its place, nor a place where nobody would find it.
const refuseAway = (item: Item, at: Standing): void => {
  const { dir, files } = item;
  const { problem } = files.case;
  const isOthers = at === 'there' && problem?.code === 'wrong_id';
  if (problem !== undefined && (isOthers || at === 'closed'))
    throw unreadable(`${dir}/${CASE_FILE}`, problem);
  if (at !== 'there') throw movedAway(item);
};

/** Makes a file of the Work item; false where there is one. */
export const createOwn = (
  store: Store,
  item: Item,
  path: string,
  content: string | Buffer,
): Promise<boolean> =>
  createFile(store.layout, path, content, { assertMeant: () => assertOwn(store, item) });

/** Throws `file_busy` where another Work item's directory stands in the place of this one's, as of this moment. */
export const assertOwn = ({ layout: { root } }: Store, item: Item): void => {
  const { id, dir, files } = item;
  if (readItem(root, dir, { id, files })?.case.problem?.code === 'wrong_id') throw movedAway(item);
};

const wentAway = ({ dir }: Item): StoreError =>
  new StoreError('may_be_written', `${dir} was moved or removed while it was written`);

export const movedAway = ({ dir }: Item): StoreError =>
  new StoreError('file_busy', `${dir} was moved or removed a moment ago; try again`);
