/** Does work on each, on at most so many at once. Ends with the first error, once nothing is under way any more. */
export const inParallel = async <T>(
  all: Iterable<T>,
  lanes: number,
  work: (each: T) => Promise<void>,
): Promise<void> => {
  const rest = all[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true && !failed; next = rest.next())
      await work(next.value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const first = ends.find((end) => end.status === 'rejected');
  if (first !== undefined) throw first.reason;
};
