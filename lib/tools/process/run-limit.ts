import { createHash } from 'node:crypto';
import { orElse } from '../../../store/base/attempt.ts';
import type { Environment } from './environment.ts';
import { findProgram, isProgram } from './find-program.ts';
import { readProcFile } from './proc-file.ts';

/** The hard limit of a process on file locks, `Infinity` for none; undefined if it has ended or there is no /proc. */
export const lockLimitOf = (process: number | 'self'): number | undefined => {
  const limits = orElse(() => readProcFile(`/proc/${process}/limits`), undefined);
  if (limits === undefined) return undefined;
  const hard = /^Max file locks +\S+ +(\S+)/m.exec(limits)?.[1];
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
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
