import { AsyncLocalStorage } from 'node:async_hooks';
import { LOCKS, type LockKey } from './locks.ts';

/** One at a time for each lock, first come first served. `left` is called with its lock after each turn. */
export const createLocks = (left: (lock: LockKey) => void = () => undefined) => {
  const last = new Map<string, Promise<unknown>>();
  return {
    take: <T>(lock: LockKey, work: () => Promise<T>): Promise<T> => {
      const name = nameOf(lock);
      const withOrder = holding(lock, work);
      const turn = (last.get(name) ?? Promise.resolve()).then(withOrder, withOrder);
      last.set(name, turn);
      const leave = () => {
        if (last.get(name) === turn) last.delete(name);
        left(lock);
      };
      turn.then(leave, leave);
      return turn;
    },
    /** Whether somebody has this lock, or waits for it. */
    isTaken: (lock: LockKey): boolean => last.has(nameOf(lock)),
    /** Resolves when nobody has this lock. */
    whenFree: async (lock: LockKey): Promise<void> => {
      refuseAgainstOrder(lock);
      const name = nameOf(lock);
      while (last.has(name)) await last.get(name)?.catch(() => undefined);
    },
  };
};
export type Locks = ReturnType<typeof createLocks>;

const nameOf = ({ kind, of }: LockKey): string => (of === '' ? kind : `${kind} ${of}`);

interface Held {
  lock: LockKey;
  over: boolean;
}

let chain: AsyncLocalStorage<readonly Held[]> | undefined;

/**
 * From now on who asks for a lock against the order of LOCKS, or for one that is held on the way to this call, gets an
 * error. Until then nothing is followed, and a turn costs what it cost.
 */
export const followLocks = (): void => {
  chain ??= new AsyncLocalStorage();
};

/** Work that holds a lock, whoever sees to it that there is one at a time. Throws against the order where that is followed. */
export const holding = <T>(lock: LockKey, work: () => Promise<T>): (() => Promise<T>) => {
  const followed = chain;
  if (followed === undefined) return work;
  refuseAgainstOrder(lock);
  const mine: Held = { lock, over: false };
  const held = [...heldNow(), mine];
  return () =>
    followed.run(held, work).finally(() => {
      mine.over = true;
    });
};

/** Runs what nobody on the way to this call waits for: it holds none of their locks. */
export const apart = <T>(work: () => T): T => (chain === undefined ? work() : chain.run([], work));

// What was begun in a turn and goes on after it holds it no more.
const heldNow = (): Held[] => (chain?.getStore() ?? []).filter(({ over }) => !over);

/** Throws, where that is followed, for a lock that is asked for against the order. */
export const refuseAgainstOrder = (lock: LockKey): void => {
  for (const { lock: held } of heldNow()) {
    if (nameOf(held) === nameOf(lock))
      throw new Error(`Whoever holds ${nameOf(lock)} asks for it again, and would wait for ever`);
    if (levelOf(held) >= levelOf(lock))
      throw new Error(`${nameOf(lock)} is asked for while ${nameOf(held)} is held: ${ORDER}`);
  }
};

const ORDER = 'store/base/locks.ts lists what is taken first before what is taken within it';

const levelOf = ({ kind }: LockKey): number => LOCKS.findIndex((each) => each.kind === kind);
