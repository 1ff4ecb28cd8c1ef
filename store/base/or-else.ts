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
