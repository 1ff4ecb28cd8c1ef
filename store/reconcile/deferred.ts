import { apart } from '../base/mutex.ts';
import { remembered, type Store } from '../store.ts';

interface Late {
  /** What it is about, for the log. */
  what: string;
  /** Done again, it does nothing more. */
  work: () => Promise<void>;
}

const lateOf = remembered(() => new Map<string, Late>());

/**
 * Does what follows from a change that is on disk already. Where that fails (the journal cannot be written), it is reported,
 * and done at the next comparison of the workspace. A name has one such work: the newest.
 */
export const orLate = async (store: Store, name: string, late: Late): Promise<void> => {
  try {
    await late.work();
  } catch (error) {
    doLater(store, name, late);
    store.report(error, `${late.what}: it is done at the next comparison`);
  }
};

/** Does this at the next comparison of the workspace, and again at the one after that where it fails. */
export const doLater = (store: Store, name: string, late: Late): void =>
  void lateOf(store).set(name, late);

/** Does what could not be done before. Not waited for: it takes turns that whoever compares may hold. */
export const doLate = (store: Store): void => {
  const all = lateOf(store);
  // What another daemon has meanwhile is its to tell.
  if (store.readOnly !== undefined) return;
  for (const [name, late] of [...all]) {
    all.delete(name);
    void apart(() => orLate(store, name, late));
  }
};
