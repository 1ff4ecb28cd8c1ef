import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { orElse } from '../../store/base/attempt.ts';

// Node opens nothing without it.
const CLOSED_ON_EXEC = 0o2000000;

/**
 * Lets go of what the shell that began this process held open beyond the first three, such as a file that it has locked:
 * the daemon outlives it. Linux only.
 */
export const closeInherited = (): void => {
  for (const name of orElse(() => readdirSync('/proc/self/fd'), [])) {
    const descriptor = Number(name);
    if (descriptor > 2 && isInherited(descriptor)) orElse(() => closeSync(descriptor), undefined);
  }
};

const isInherited = (descriptor: number): boolean => {
  // The directory that was just read is closed by now.
  const said = orElse(() => readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'), '');
  const flags = /^flags:\s+([0-7]+)$/m.exec(said)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
};
