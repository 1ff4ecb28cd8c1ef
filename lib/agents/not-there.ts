import { isAbsolute } from 'node:path';
import { cleanEnvironment, type Environment } from '../tools/process/environment.ts';
import { findProgram, isProgram } from '../tools/process/find-program.ts';
import type { ProviderDeps } from './launch.ts';

/** A program as far as it can be looked for: where, and what to do when it is not found. */
interface Wanted {
  argv: readonly string[];
  env: Environment;
  hint: string;
}

/** Why a program cannot be started, and what to do about it; undefined when it can. Nothing is run to tell. */
export const whyNotThere = (
  { argv: [command = ''], env, hint }: Wanted,
  deps: Pick<ProviderDeps, 'env'>,
): string | undefined => {
  if (isAbsolute(command))
    return isProgram(command)
      ? undefined
      : `${command} is not there, or is no program. Correct providers in workspace.md.`;
  // A path from here would be a file of the worktree, which is nobody's choice of program.
  if (command.includes('/'))
    return `The command ${command} must be a name on the PATH or an absolute path.`;
  if (findProgram(command, cleanEnvironment(deps.env, env)) !== undefined) return undefined;
  return `${command} is not installed. ${hint}`;
};
