import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { orElse } from '../../store/base/or-else.ts';

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

const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

// Ctrl-C under npm comes twice at once: from the terminal, and from npm that hands it on.
const ECHO_MS = 500;

/** Resolves with the first SIGTERM or SIGINT. Whoever sends a second one is in a hurry: the process ends at once. */
export const askedToStop = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let first: number | undefined;
    const heard = (signal: keyof typeof NUMBERS): void => {
      if (first !== undefined && performance.now() - first > ECHO_MS)
        process.exit(128 + NUMBERS[signal]);
      first ??= performance.now();
      resolve(signal);
    };
    process.on('SIGTERM', heard).on('SIGINT', heard);
  });

/** A file that met a limit (`ulimit -f`) fails its write with EFBIG; by default the system would end the process. */
export const outliveLimits = (): void => {
  process.on('SIGXFSZ', () => undefined);
};
