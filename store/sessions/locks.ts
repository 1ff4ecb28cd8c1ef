import { rmSync } from 'node:fs';
import { isDiskFault } from '../base/disk-fault.ts';
import { lockOn } from '../base/locks.ts';
import { holding, refuseAgainstOrder } from '../base/mutex.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { readable, readRegularFile } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { createFile, hasCode, makeDirectory } from '../fs/durable.ts';
import { inFolderTurn } from '../fs/folder-guard.ts';
import { assertNoLinks } from '../fs/plain-path.ts';
import { syncDirectory } from '../fs/synced.ts';
import { sessionLockFile, sessionsDir } from '../layout.ts';
import { itemsOf, pathOfItem } from '../reconcile/items.ts';
import { type Lock, LockMatter } from '../records/lock.ts';
import type { Store } from '../store.ts';

/** Who holds the session lock of a Work item. Undefined when there is no such Work item. The file says it, whoever wrote it. */
export const readLock = (store: Store, caseId: string): Lock | undefined => {
  const dir = pathOfItem(store, caseId);
  if (dir === undefined) return undefined;
  const matter = readMatter(store, dir);
  if (matter === undefined)
    return { case_id: caseId, locked: false, holder: null, acquired_at: null };
  // Seen once, it is missed when it is gone.
  itemsOf(store).locked.add(caseId);
  const { acquired_at, token_sha256: _, ...holder } = matter;
  return { case_id: caseId, locked: true, holder, acquired_at };
};

export interface HeldLock {
  case_id: string;
  matter: LockMatter;
}

/**
 * The session locks that are held now, as their files say; with `caseId`, that of this Work item alone. Costs a read for
 * each that is held, however many Work items there are. One that was made by hand counts as soon as it is noticed.
 */
export const heldLocks = (store: Store, caseId?: string): HeldLock[] => {
  const ids = caseId === undefined ? [...itemsOf(store).locked] : [caseId];
  return ids.flatMap((case_id) => {
    const dir = pathOfItem(store, case_id);
    const matter = dir === undefined ? undefined : readMatter(store, dir, caseId === undefined);
    if (dir === undefined) itemsOf(store).locked.delete(case_id);
    return matter === undefined ? [] : [{ case_id, matter }];
  });
};

const check = checkerOf(LockMatter);

// A lock that cannot be read is held all the same: by whom, nobody can tell. Where nobody may look, or the disk
// fails, who asks for one lock is told that; of many, it is as good as held.
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

/** Takes the lock: one winner. False when it is held. It lasts until it is released, across restarts, by no clock. */
export const acquireLock = (store: Store, caseId: string, matter: LockMatter): Promise<boolean> =>
  inFolder(store, caseId, false, (dir) =>
    whileNoLockIsTaken(store, () => {
      refuseAgainstOrder(lockOn.sessionLock(caseId));
      const text = renderFrontMatter({ ...matter }, NOTE);
      return createFile(store.layout, sessionLockFile(dir), text).finally(() =>
        itemsOf(store).locked.add(caseId),
      );
    }),
  );

/** Runs work during which no session, and nobody else by way of this daemon, takes a session lock. */
export const whileNoLockIsTaken = <T>(store: Store, work: () => Promise<T>): Promise<T> =>
  store.locks.take(lockOn.sessionLocks(), work);

const NOTE =
  '\nWhile this file is here, no other session of this Work item runs. Deleting it frees the lock.\n';

/** Frees the lock when `isOurs` says so of its holder; false when it is not held, or by somebody else. */
export const releaseLock = (
  store: Store,
  caseId: string,
  isOurs: (holder: LockMatter) => boolean,
): Promise<boolean> =>
  inFolder(store, caseId, false, async (dir) => {
    const matter = readMatter(store, dir);
    if (matter === undefined || !isOurs(matter)) return false;
    rmSync(sessionLockFile(dir), { force: true });
    itemsOf(store).locked.delete(caseId);
    await syncDirectory(sessionsDir(dir));
    return true;
  });

// Another program may enter the folder too: for these moments it is guarded by a lock that both understand.
const inFolder = async <T>(
  store: Store,
  caseId: string,
  absent: T,
  work: (dir: string) => Promise<T>,
): Promise<T> => {
  const dir = pathOfItem(store, caseId);
  if (dir === undefined) return absent;
  const folder = sessionsDir(dir);
  assertNoLinks(store.layout.root, folder);
  makeDirectory(folder);
  const enter = holding(lockOn.sessions(caseId), () =>
    inFolderTurn(store.layout.root, folder, () => work(dir)),
  );
  return enter();
};
