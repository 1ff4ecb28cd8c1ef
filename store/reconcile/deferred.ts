import { withoutLocks } from '../base/mutex.ts';
import { remembered, type Store } from '../store.ts';

interface Deferrable {
  /** For the log. */
  what: string;
  /** Idempotent. */
  work: () => Promise<void>;
}

const deferredOf = remembered(() => new Map<string, Deferrable>());

/**
 * Runs a step that follows from a change already on disk. If it fails, as when the journal cannot be written, the error is
 * reported and the step runs at the next comparison of the workspace. Of several steps with one name the last is kept.
 */
export const doOrDefer = async (store: Store, name: string, step: Deferrable): Promise<void> => {
  try {
    await step.work();
  } catch (error) {
    defer(store, name, step);
    store.report(error, `${step.what}; the next comparison retries`);
  }
};

/** Runs a step at the next comparison of the workspace; a failing step is deferred again. */
export const defer = (store: Store, name: string, step: Deferrable): void =>
  void deferredOf(store).set(name, step);

/** Runs all deferred steps. It does not wait for them, since they take locks that the caller may hold. */
export const runDeferred = (store: Store): void => {
  const all = deferredOf(store);
  // Another daemon has the workspace, and journals its changes.
  if (store.readOnly !== undefined) return;
  for (const [name, step] of [...all]) {
    all.delete(name);
    void withoutLocks(() => doOrDefer(store, name, step));
  }
};
