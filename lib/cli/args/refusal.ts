import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** A command was refused. The message tells the operator what to do, and is printed without a stack. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** The command needs a daemon and none is running: the exit code is 3. */
export class NoDaemon extends Error {
  override readonly name = 'NoDaemon';
}

/** The operator left with Ctrl-C where they were asked: the exit code is 130. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Throws a Refusal if the directory of a file does not exist. */
export const requireDirectoryOf = (path: string): void => {
  if (existsSync(dirname(path))) return;
  throw new Refusal(`There is no directory ${dirname(path)}. Create it first`);
};
