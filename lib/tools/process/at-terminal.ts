import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a program as the operator would who types it: with all of their environment, at their terminal. Answers its exit
 * code; null where a signal ended it.
 */
export const runAtTerminal = async (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number | null> => {
  // Ctrl-C is for the program.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const [code] = await once(spawn(program, args, { env, stdio: 'inherit' }), 'exit');
    return code;
  } finally {
    process.off('SIGINT', ignore);
  }
};

/** What such a program writes, without the line's end; undefined where it fails. */
export const outputOf = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(program, args, { env, encoding: 'utf8', maxBuffer: MOST_BYTES }, (error, stdout) =>
      resolve(error === null ? stdout.replace(/\n$/, '') : undefined),
    );
  });

const MOST_BYTES = 16 * 1024 * 1024;
