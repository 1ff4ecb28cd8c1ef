import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import type { Environment } from './environment.ts';

/**
 * The absolute path of a program on the PATH of `env`, or undefined. Relative entries are passed over: they would
 * let a file in a worktree stand in for the program.
 */
export const findProgram = (name: string, env: Environment): string | undefined =>
  (env.PATH ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((directory) => join(directory, name))
    .find(isProgram);

/** Tells one file of a program from the next, as an upgrade or a new place on the PATH brings it; empty for none. */
export const programStamp = (name: string, env: Environment): string => {
  const path = isAbsolute(name) ? name : findProgram(name, env);
  const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : [path, found.ino, found.size, found.mtimeMs].join(' ');
};

/** Whether there is a file with something in it; one that cannot be looked at is none. */
export const isFilled = (path: string): boolean =>
  orElse(() => {
    const found = statSync(path);
    return found.isFile() && found.size > 0;
  }, false);

/** Whether there is a file that may be started. */
export const isProgram = (path: string): boolean =>
  orElse(() => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  }, false);
