import { AsyncLocalStorage } from 'node:async_hooks';
import { LOCKS, type LockKey } from './locks.ts';

/** Locks in memory, granted first come, first served. `released` is called after each release. */
export const createLocks = (released: (lock: LockKey) => void = () => undefined) => {
  const last = new Map<string, Promise<unknown>>();
  return {
    take: <T>(lock: LockKey, work: () => Promise<T>): Promise<T> => {
      const name = nameOf(lock);
      const withOrder = asHolder(lock, work);
      const held = (last.get(name) ?? Promise.resolve()).then(withOrder, withOrder);
      last.set(name, held);
      const release = () => {
        if (last.get(name) === held) last.delete(name);
        released(lock);
      };
      held.then(release, release);
      return held;
    },
    /** Whether the lock is held or waited for. */
    isTaken: (lock: LockKey): boolean => last.has(nameOf(lock)),
    /** Resolves once the lock is neither held nor waited for. */
    whenFree: async (lock: LockKey): Promise<void> => {
      assertLockOrder(lock);
      const name = nameOf(lock);
      while (last.has(name)) await last.get(name)?.catch(() => undefined);
    },
  };
};
export type Locks = ReturnType<typeof createLocks>;

const nameOf = ({ kind, of }: LockKey): string => (of === '' ? kind : `${kind} ${of}`);

interface Held {
  lock: LockKey;
  isReleased: boolean;
}

let chain: AsyncLocalStorage<readonly Held[]> | undefined;

/**
 * Turns on the check of the lock order: from now on, taking a lock against the order of LOCKS, or one that the caller
 * already holds, throws. Off by default, because following the order costs time.
 */
export const checkLockOrder = (): void => {
  chain ??= new AsyncLocalStorage();
};

/** Registers a lock as held while `work` runs; the caller does the locking. Throws against the order if checked. */
export const asHolder = <T>(lock: LockKey, work: () => Promise<T>): (() => Promise<T>) => {
  const followed = chain;
  if (followed === undefined) return work;
  assertLockOrder(lock);
  const mine: Held = { lock, isReleased: false };
  const held = [...heldNow(), mine];
  return () =>
    followed.run(held, work).finally(() => {
      mine.isReleased = true;
    });
};

/** Runs background work that no caller awaits, so that it does not count as holding the caller's locks. */
export const withoutLocks = <T>(work: () => T): T =>
  chain === undefined ? work() : chain.run([], work);

// Work that was started under a lock and outlives it holds it no longer.
const heldNow = (): Held[] => (chain?.getStore() ?? []).filter(({ isReleased }) => !isReleased);

/** Throws if taking this lock is against the order, and the order is checked. */
export const assertLockOrder = (lock: LockKey): void => {
  for (const { lock: held } of heldNow()) {
    if (nameOf(held) === nameOf(lock))
      throw new Error(`Deadlock: ${nameOf(lock)} is requested by its holder`);
    if (levelOf(held) >= levelOf(lock))
      throw new Error(`${nameOf(lock)} is requested while ${nameOf(held)} is held: ${ORDER}`);
  }
};

const ORDER = 'take locks in the order of store/base/locks.ts';

const levelOf = ({ kind }: LockKey): number => LOCKS.findIndex((each) => each.kind === kind);
