import { join } from 'node:path';
import { StoreError } from './errors.ts';
import type { Item } from './item.ts';
import { CASE_FILE } from './layout.ts';
import { standing } from './plain-path.ts';
import { reconcileInTurn } from './reconcile.ts';
import { unreadable } from './record-file.ts';
import { readyToWrite, type Store } from './store.ts';

/**
 * Runs work on a Work item in its turn, ready to write. What was changed by hand before is told first: two changes never
 * melt into one event. Undefined when there is no such Work item; `file_busy` while its directory is not where it was,
 * so that nothing is written where nobody would find it.
 */
export const changing = <T>(
  store: Store,
  id: string,
  work: (item: Item) => Promise<T>,
): Promise<T | undefined> =>
  store.turns.take(id, async () => {
    const item = store.items.byId.get(id);
    if (item === undefined) return undefined;
    await readyToWrite(store);
    await reconcileInTurn(store, item);
    const { root } = store.layout;
    const at = standing(root, join(root, item.dir));
    if (at === 'there') return work(item);
    const { problem } = item.files.case;
    if (at === 'closed' && problem !== undefined)
      throw unreadable(`${item.dir}/${CASE_FILE}`, problem);
    throw new StoreError('file_busy', `${item.dir} was moved or removed a moment ago; try again`);
  });

const TRIES = 5;

/** Repeats an attempt that answers false when the file changed since it was read; `file_busy` when it never holds still. */
export const untilDone = async (file: string, attempt: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < TRIES; tries += 1) if (await attempt()) return;
  throw new StoreError(
    'file_busy',
    `${file} changed again and again while it was written; try again`,
  );
};
