import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import type { Environment } from './environment.ts';

/**
 * The absolute path of a program on the PATH of `env`, or undefined. Skips relative entries, which would let a file in a
 * worktree stand in for the program.
 */
export const findProgram = (name: string, env: Environment): string | undefined =>
  (env.PATH ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((directory) => join(directory, name))
    .find(isProgram);

/** A stamp that changes when an upgrade or a changed PATH leads to another file; empty if the program is not found. */
export const programStamp = (name: string, env: Environment): string => {
  const path = isAbsolute(name) ? name : findProgram(name, env);
  const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : [path, found.ino, found.size, found.mtimeMs].join(' ');
};

/** Whether a file exists and is not empty. False for a file that cannot be read. */
export const isFilled = (path: string): boolean =>
  orElse(() => {
    const found = statSync(path);
    return found.isFile() && found.size > 0;
  }, false);

/** Whether a file exists and is executable. */
export const isProgram = (path: string): boolean =>
  orElse(() => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  }, false);
