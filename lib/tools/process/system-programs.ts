import type { Environment } from './environment.ts';
import { execute } from './execute.ts';
import { findProgram } from './find-program.ts';

const ANSWER_MS = 5000;
const ANSWER_BYTES = 262_144;

/** The host that the operator's ssh configuration means by a name; undefined where ssh is not there, or does not say. */
export const sshHost = async (name: string, env: Environment): Promise<string | undefined> => {
  const program = findProgram('ssh', env);
  if (program === undefined || !/^[A-Za-z0-9][\w.-]*$/.test(name)) return undefined;
  const limits = { timeout_ms: ANSWER_MS, max_bytes: ANSWER_BYTES };
  const { code, stdout } = await execute([program, '-G', '--', name], { cwd: '/', env, ...limits });
  if (code !== 0) return undefined;
  return /^hostname (\S+)$/m.exec(stdout.toString('utf8'))?.[1]?.toLowerCase();
};

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
