import { createCallContext } from './call-context.ts';

/**
 * How far a call has come that writes: `before` the first name that it puts into place, takes away or moves nothing is
 * changed; from then on it may be on disk or not, whatever fails.
 */
export type WriteStage = 'before' | 'placed';

interface Call {
  readonly placed: Set<string>;
  /** It is answered: what goes on after it is not the call's. */
  over: boolean;
}

const calls = createCallContext<Call>();

/** Runs a call whose writes are followed. `stage` says how far it has come. */
export const followWrites = async <T>(
  work: (stage: () => WriteStage) => Promise<T>,
): Promise<T> => {
  const call: Call = { placed: new Set(), over: false };
  try {
    return await calls.run(call, () => work(() => stageOf(call)));
  } finally {
    call.over = true;
    call.placed.clear();
  }
};

const stageOf = ({ placed }: Call): WriteStage => (placed.size === 0 ? 'before' : 'placed');

/** What is done on the way and is not the call's own: what a file made by hand lacks, say. */
export const notFollowed = <T>(work: () => T): T => calls.without(work);

/**
 * A name changed on disk, for everybody to see, which it may take a sync for it to last; or something changed elsewhere,
 * in a repository or on a host. `again`: the call changed it before.
 */
export const notePlaced = (path: string): 'first' | 'again' => {
  const call = calls.get();
  const again = call?.placed.has(path) === true;
  if (call?.over === false) call.placed.add(path);
  return again ? 'again' : 'first';
};

/** Does what changes a name, and notes it: also where it fails with an error that does not say whether it was changed. */
export const placing = <T>(path: string, change: () => T): T => {
  const changed = noteIfUnsure(path, change);
  notePlaced(path);
  return changed;
};

/** Notes a change of a name only where it fails so: a disk or a server may have failed before it or after it. */
export const noteIfUnsure = <T>(path: string, change: () => T): T => {
  try {
    return change();
  } catch (error) {
    if (UNSURE.has(String((error as NodeJS.ErrnoException).code))) notePlaced(path);
    throw error;
  }
};

const UNSURE = new Set(['EIO', 'ESTALE', 'ETIMEDOUT']);

/** What was made at that path is gone again, for good: nothing is left of it. */
export const noteTakenBack = (path: string): void => void calls.get()?.placed.delete(path);

/** How far the call has come on whose behalf this runs; undefined where it is no call that writes. */
export const writeStage = (): WriteStage | undefined => {
  const call = calls.get();
  return call && stageOf(call);
};
