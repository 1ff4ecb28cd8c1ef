/**
 * What `read` answers; `otherwise` where it throws: for what may not be there, or be no such thing, where nobody has to be
 * told why. With codes only where the system says one of these.
 */
export const orElse = <T, F>(read: () => T, otherwise: F, ...codes: string[]): T | F => {
  try {
    return read();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (codes.length > 0 && !codes.includes(code)) throw error;
    return otherwise;
  }
};

/** True once it is done; false where the system says one of these. */
export const isDone = (act: () => void, ...codes: string[]): boolean =>
  orElse(
    () => {
      act();
      return true;
    },
    false,
    ...codes,
  );

/**
 * Whether an error tells of the disk, or of a limit of this machine, and nothing of the file that was asked for: that may
 * be as it should be.
 */
export const isDiskFault = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && FAULTS.has(String((error as NodeJS.ErrnoException).code));

const FAULTS = new Set(['EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EINTR']);

/** What `read` answers; undefined where nothing can be read, for any reason but such an error, which is thrown. */
export const unlessFault = async <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if (isDiskFault(error)) throw error;
    return undefined;
  });

/** The same of what is read at once; `otherwise` in place of undefined. */
export const orElseUnlessFault = <T, F>(read: () => T, otherwise: F): T | F => {
  try {
    return read();
  } catch (error) {
    if (isDiskFault(error)) throw error;
    return otherwise;
  }
};

/** What an error says, whoever threw it. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
