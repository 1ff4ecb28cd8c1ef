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
