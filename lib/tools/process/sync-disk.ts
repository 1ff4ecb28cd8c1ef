import type { Environment } from './environment.ts';
import { execute } from './execute.ts';
import { findProgram } from './find-program.ts';

const TIMEOUT_MS = 300_000;

/**
 * Has the whole file system of a directory written to its disk, as syncfs does, which Node does not have. False where no
 * program here does that: `sync -f` is of the GNU coreutils.
 */
export const syncDisk = async (directory: string, env: Environment): Promise<boolean> => {
  // Elsewhere it takes no option, and does not wait for the disk.
  const program = process.platform === 'linux' ? findProgram('sync', env) : undefined;
  if (program === undefined) return false;
  const run = { cwd: directory, env, timeout_ms: TIMEOUT_MS, max_bytes: 65_536 };
  return (await execute([program, '-f', directory], run)).code === 0;
};
