import type { Environment } from './environment.ts';
import { execute } from './execute.ts';
import { findProgram } from './find-program.ts';

const ANSWER_MS = 5000;
const ANSWER_BYTES = 262_144;

/** The host name that the operator's ssh configuration has for an alias; undefined without ssh or without an answer. */
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
 * Flushes the file system of a directory to disk, like syncfs, which Node lacks. False if no program can do it: `sync -f` is
 * part of GNU coreutils.
 */
export const syncDisk = async (directory: string, env: Environment): Promise<boolean> => {
  // On other systems `sync` has no -f and does not wait for the disk.
  const program = process.platform === 'linux' ? findProgram('sync', env) : undefined;
  if (program === undefined) return false;
  const run = { cwd: directory, env, timeout_ms: TIMEOUT_MS, max_bytes: 65_536 };
  return (await execute([program, '-f', directory], run)).code === 0;
};
