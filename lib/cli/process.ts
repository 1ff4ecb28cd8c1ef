import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { orElse } from '../../store/base/attempt.ts';

// The O_CLOEXEC flag. Node sets it on every descriptor that it opens.
const CLOSED_ON_EXEC = 0o2000000;

/**
 * Closes descriptors that were inherited from the shell, such as a file that it has locked, because the daemon outlives it.
 * Linux only. A file that a library has opened without the flag counts as inherited, so this comes before any is loaded.
 */
export const closeInheritedDescriptors = (): void => {
  for (const name of orElse(() => readdirSync('/proc/self/fd'), [])) {
    const descriptor = Number(name);
    if (descriptor > 2 && isInherited(descriptor)) orElse(() => closeSync(descriptor), undefined);
  }
};

const isInherited = (descriptor: number): boolean => {
  // The descriptor of /proc/self/fd itself is closed by now.
  const said = orElse(() => readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'), '');
  const flags = /^flags:\s+([0-7]+)$/m.exec(said)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
};

// Under npm, Ctrl-C arrives twice: from the terminal and from npm.
const ECHO_MS = 500;

/**
 * Resolves with the first SIGTERM, SIGINT or SIGHUP, as from a terminal that is closed. A second one of the first two ends
 * the process at once; a closed terminal may send several.
 */
export const waitForStopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let first: number | undefined;
    const heard = (signal: NodeJS.Signals): void => {
      if (first !== undefined && performance.now() - first > ECHO_MS)
        process.exit(128 + constants.signals[signal]);
      first ??= performance.now();
      resolve(signal);
    };
    process.on('SIGTERM', heard).on('SIGINT', heard).on('SIGHUP', resolve);
  });

/** Ends the process by SIGHUP, as it would without a handler: where it exits, Node crashes on a terminal that is closed. */
export const endByHangup = (): Promise<never> => {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
  return new Promise(() => undefined);
};

/** Handles SIGXFSZ, so that a write beyond `ulimit -f` fails with EFBIG instead of ending the process. */
export const handleFileSizeSignal = (): void => {
  process.on('SIGXFSZ', () => undefined);
};
