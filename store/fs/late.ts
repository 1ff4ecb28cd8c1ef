/**
 * Runs `then` after a write that was done, and also after one that failed once its name was in place: what is remembered
 * is then what everybody sees. Throws what the write threw.
 */
export const evenIfPlaced = async <T>(
  write: Promise<unknown>,
  then: () => T | Promise<T>,
): Promise<T> => {
  const failure = await write.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure !== undefined && !isLate(failure)) throw failure;
  const done = await then();
  if (failure !== undefined) throw failure;
  return done;
};

const isLate = (error: unknown): boolean => error instanceof Error && late.has(error);

/** What went wrong once a name was in place. */
const late = new WeakSet<Error>();

/** The last step of a write: its name is there for everybody to see, and whether it lasts the disk has still to say. */
export const lasting = (sync: Promise<void>): Promise<void> =>
  sync.catch((error: unknown) => {
    if (error instanceof Error) late.add(error);
    throw error;
  });
