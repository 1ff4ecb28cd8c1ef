import { relative } from 'node:path';
import { hasCode, isDiskFault } from '../base/attempt.ts';
import { lockOn } from '../base/locks.ts';
import { asHolder, assertLockOrder } from '../base/mutex.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { readable, readRegularFile } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { createFile, makeDirectory } from '../fs/durable.ts';
import { withFolderLock } from '../fs/folder-lock.ts';
import { assertCreatable, isDirectoryItself, notRegular } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { syncDirectory } from '../fs/synced.ts';
import { sessionLockFile, sessionsDir } from '../layout.ts';
import { itemsOf, pathOfItem } from '../reconcile/items.ts';
import { type Lock, LockMatter } from '../records/lock.ts';
import { readyToWrite, type Store } from '../store.ts';

/** The session lock of a Work item, from its file; undefined if there is no such Work item. */
export const readLock = (store: Store, caseId: string): Lock | undefined => {
  const dir = pathOfItem(store, caseId);
  if (dir === undefined) return undefined;
  const matter = readMatter(store, dir);
  if (matter === undefined)
    return { case_id: caseId, locked: false, holder: null, acquired_at: null };
  // Noted, so that its removal is noticed.
  itemsOf(store).locked.add(caseId);
  const { acquired_at, token_sha256: _, ...holder } = matter;
  return { case_id: caseId, locked: true, holder, acquired_at };
};

export interface HeldLock {
  case_id: string;
  matter: LockMatter;
}

/**
 * The session locks that are held now, from their files; with `caseId`, only that of this Work item. Costs one read for
 * each held lock. A lock created by hand counts once it is noticed.
 */
export const listHeldLocks = (store: Store, caseId?: string): HeldLock[] => {
  const ids = caseId === undefined ? [...itemsOf(store).locked] : [caseId];
  return ids.flatMap((case_id) => {
    const dir = pathOfItem(store, case_id);
    const matter = dir === undefined ? undefined : readMatter(store, dir, caseId === undefined);
    if (dir === undefined) itemsOf(store).locked.delete(case_id);
    return matter === undefined ? [] : [{ case_id, matter }];
  });
};

const check = checkerOf(LockMatter);

// An unreadable lock counts as held, by an unknown holder. Permission and disk errors are thrown if one lock is read, and
// count as held if many are.
const readMatter = ({ layout }: Store, dir: string, ofMany = false): LockMatter | undefined => {
  const path = sessionLockFile(dir);
  try {
    const bytes = readRegularFile(layout.root, path);
    if (bytes === undefined) return undefined;
    const source = readable(layout.root, path, bytes);
    return check(source.data, source);
  } catch (error) {
    if (!ofMany && (isDiskFault(error) || hasCode(error, 'EACCES', 'EPERM'))) throw error;
    return {
      kind: 'operator',
      name: 'lock.md, which cannot be read',
      acquired_at: new Date(0).toISOString(),
    };
  }
};

/** Acquires the session lock; false if it is held. It is held until released, across restarts, without a timeout. */
export const acquireLock = (store: Store, caseId: string, matter: LockMatter): Promise<boolean> =>
  inSessionsFolder(store, caseId, async (dir) => {
    await readyToWrite(store);
    return withSessionLocksBlocked(store, () => {
      assertLockOrder(lockOn.sessionLock(caseId));
      const text = renderFrontMatter({ ...matter }, NOTE);
      return createFile(store.layout, sessionLockFile(dir), text).finally(() =>
        itemsOf(store).locked.add(caseId),
      );
    });
  });

/** Runs `work` while no session lock can be acquired through this daemon. */
export const withSessionLocksBlocked = <T>(store: Store, work: () => Promise<T>): Promise<T> =>
  store.locks.take(lockOn.sessionLocks(), work);

const NOTE =
  '\nWhile this file is here, no other session of this Work item runs. Deleting it releases the lock.\n';

/** Releases the lock if `isOurs` accepts its holder; otherwise returns false. */
export const releaseLock = (
  store: Store,
  caseId: string,
  isOurs: (holder: LockMatter) => boolean,
): Promise<boolean> =>
  inSessionsFolder(store, caseId, async (dir) => {
    const matter = readMatter(store, dir);
    if (matter === undefined || !isOurs(matter)) return false;
    const file = sessionLockFile(dir);
    if (isDirectoryItself(file)) throw notRegular(relative(store.layout.root, file));
    unlinkIfThere(file);
    itemsOf(store).locked.delete(caseId);
    await syncDirectory(sessionsDir(dir));
    return true;
  });

// Other programs may use the folder too: sessions/folder.lock excludes them. False if there is no such Work item.
const inSessionsFolder = async (
  store: Store,
  caseId: string,
  work: (dir: string) => Promise<boolean>,
): Promise<boolean> => {
  const dir = pathOfItem(store, caseId);
  if (dir === undefined) return false;
  const folder = sessionsDir(dir);
  assertCreatable(store.layout.root, folder);
  makeDirectory(folder);
  const enter = asHolder(lockOn.sessions(caseId), () =>
    withFolderLock(store.layout.root, folder, () => work(dir)),
  );
  return enter();
};
