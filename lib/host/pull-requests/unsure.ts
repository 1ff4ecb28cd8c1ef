import { ServiceError } from '../../errors.ts';

/** Whether a write may have taken effect all the same: the host was asked, and nobody knows what became of it. */
const isUnsure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.members.outcome === 'unknown';

/**
 * Makes a write that is not repeated: where its outcome is unknown, `look` says what is there now, and undefined when
 * it was not done. While nobody can tell, the error of the write stands, with `outcome: unknown`.
 */
export const writeOnce = async <T>(
  write: () => Promise<T>,
  look: () => Promise<T | undefined>,
): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!isUnsure(error)) throw error;
    const found = await look().catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
};

/** What a step that is not the point of a call told when it failed, as a warning in its answer. */
export const warningOf = (what: string, error: unknown): string => {
  if (error instanceof ServiceError) return `${what}: ${error.message}`;
  throw error;
};
