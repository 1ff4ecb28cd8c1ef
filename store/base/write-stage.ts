import { hasCode, isFailingDisk } from './attempt.ts';
import { createCallContext } from './call-context.ts';

/**
 * How far a writing call has come. `before`: nothing is changed. `placed`: it has created, removed or moved at least one
 * name, so a later failure leaves it unknown what is on disk.
 */
export type WriteStage = 'before' | 'placed';

interface Call {
  readonly placed: Set<string>;
  /** The response was sent; later work does not belong to the call. */
  isAnswered: boolean;
}

const calls = createCallContext<Call>();

/** Runs a call and tracks its writes. `stage` returns how far it has come. */
export const trackWrites = async <T>(work: (stage: () => WriteStage) => Promise<T>): Promise<T> => {
  const call: Call = { placed: new Set(), isAnswered: false };
  try {
    return await calls.run(call, () => work(() => stageOf(call)));
  } finally {
    call.isAnswered = true;
    call.placed.clear();
  }
};

const stageOf = ({ placed }: Call): WriteStage => (placed.size === 0 ? 'before' : 'placed');

/** Runs work whose writes do not belong to the current call, such as completing a hand-made file. */
export const withoutTracking = <T>(work: () => T): T => calls.without(work);

/**
 * Records that the call changed a path (perhaps not yet synced), a repository or something on a host. Returns `again` if
 * the call changed it before.
 */
export const recordChange = (path: string): 'first' | 'again' => {
  const call = calls.get();
  const again = call?.placed.has(path) === true;
  if (call?.isAnswered === false) call.placed.add(path);
  return again ? 'again' : 'first';
};

/** Runs `change`, which changes a path, and records it, also after an error that leaves the outcome unknown. */
export const recordingChange = <T>(path: string, change: () => T): T => {
  const changed = recordIfUncertain(path, change);
  recordChange(path);
  return changed;
};

/** Runs `change` and records the path only after an error that leaves the outcome unknown. */
export const recordIfUncertain = <T>(path: string, change: () => T): T => {
  try {
    return change();
  } catch (error) {
    if (isFailingDisk(error) || hasCode(error, 'ETIMEDOUT')) recordChange(path);
    throw error;
  }
};

/** Records that a path created by the call was removed again, with its sync. */
export const noteTakenBack = (path: string): void => void calls.get()?.placed.delete(path);

/** How far the current call has come; undefined outside a writing call. */
export const writeStage = (): WriteStage | undefined => {
  const call = calls.get();
  return call && stageOf(call);
};
