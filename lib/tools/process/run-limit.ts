import { createHash } from 'node:crypto';
import { orElse } from '../../../store/base/attempt.ts';
import type { Environment } from './environment.ts';
import { findProgram, isProgram } from './find-program.ts';
import { readProcFile } from './proc-file.ts';

/** The hard limit of a process on file locks, `Infinity` for none; undefined when it is gone or there is no /proc. */
export const lockLimitOf = (process: number | 'self'): number | undefined => {
  const limits = orElse(() => readProcFile(`/proc/${process}/limits`), undefined);
  if (limits === undefined) return undefined;
  const hard = /^Max file locks +\S+ +(\S+)/m.exec(limits)?.[1];
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
};

/** Of this process. What its runs have is lower. */
export const OWN_LIMIT = lockLimitOf('self') ?? Number.POSITIVE_INFINITY;

/**
 * The limit that the processes of a run have. The kernel ignores it since 2.4.26, every child inherits it, everybody may
 * read it, and only root can raise it: what clears its environment and leaves its parents is known by it for good.
 */
export const runLimit = (marker: string): number => {
  const hash = createHash('sha256').update(marker).digest().readUIntBE(0, 5);
  const ceiling = Math.min(OWN_LIMIT, 2 ** 40);
  return 1 + (hash % Math.max(1, ceiling - 1));
};

/** The argument vector that starts `argv` under the limit of its run; `argv` itself where nothing can set it. */
export const underLimit = (
  argv: readonly string[],
  marker: string,
  env: Environment,
): readonly string[] => {
  const [file = ''] = argv;
  // A program that is not there is said to be not there by whoever starts it.
  const isThere = file.includes('/') ? isProgram(file) : findProgram(file, env) !== undefined;
  const prlimit = findProgram('prlimit', env);
  if (process.platform !== 'linux' || !isThere || prlimit === undefined) return argv;
  const limit = runLimit(marker);
  return [prlimit, `--locks=${limit}:${limit}`, '--', ...argv];
};
