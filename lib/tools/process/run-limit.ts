import { createHash } from 'node:crypto';
import { release } from 'node:os';
import { orElse } from '../../../store/base/attempt.ts';
import type { Environment } from './environment.ts';
import { findProgram, isProgram } from './find-program.ts';
import { readProcFile } from './proc-file.ts';

/** The hard limit of a process on file locks, `Infinity` for none; undefined if it has ended or there is no /proc. */
export const lockLimitOf = (process: number | 'self'): number | undefined =>
  limitOf(process, /^Max file locks +\S+ +(\S+)/m);

const limitOf = (process: number | 'self', line: RegExp): number | undefined => {
  const limits = orElse(() => readProcFile(`/proc/${process}/limits`), undefined);
  if (limits === undefined) return undefined;
  const hard = line.exec(limits)?.[1];
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
};

/** The most processes and threads of a run. */
export const MOST_PROCESSES = 4096;

/**
 * The beginning of an argument vector, in a user namespace of its own, that limits how many processes it has. Empty before
 * Linux 5.14, which counts all processes of the user, and without `prlimit`. The limit does not apply to root.
 */
export const processLimit = (env: Environment): readonly string[] => {
  const prlimit = findProgram('prlimit', env);
  const [major = 0, minor = 0] = release().split('.').map(Number);
  if (prlimit === undefined || major * 100 + minor < 514) return [];
  const own = limitOf('self', /^Max processes +\S+ +(\S+)/m) || MOST_PROCESSES;
  return [prlimit, `--nproc=${Math.min(own, MOST_PROCESSES)}`, '--'];
};

/** The limit of this process. Its runs have a lower one. */
export const OWN_LIMIT = lockLimitOf('self') ?? Number.POSITIVE_INFINITY;

/**
 * The lock limit of a run's processes. Linux ignores this limit since 2.4.26, children inherit it, any user can read it and
 * only root can raise it, so it identifies a process that cleared its environment and left its parents.
 */
export const runLimit = (marker: string): number => {
  const hash = createHash('sha256').update(marker).digest().readUIntBE(0, 5);
  const ceiling = Math.min(OWN_LIMIT, 2 ** 40);
  return 1 + (hash % Math.max(1, ceiling - 1));
};

/** The argument vector that starts `argv` with the limit of its run; `argv` itself without `prlimit`. */
export const underLimit = (
  argv: readonly string[],
  marker: string,
  env: Environment,
): readonly string[] => {
  const [file = ''] = argv;
  // Let the caller report a missing program.
  const isThere = file.includes('/') ? isProgram(file) : findProgram(file, env) !== undefined;
  const prlimit = findProgram('prlimit', env);
  if (process.platform !== 'linux' || !isThere || prlimit === undefined) return argv;
  const limit = runLimit(marker);
  return [prlimit, `--locks=${limit}:${limit}`, '--', ...argv];
};
