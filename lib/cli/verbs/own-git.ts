import { shellQuoted } from '../../../store/base/text.ts';
import { outputOf, runAtTerminal } from '../../tools/process/terminal.ts';

/** The operator's own git in a checkout, with their settings, hooks and signing. */
export interface OwnGit {
  directory: string;
  /** Returns the output; undefined if git fails. */
  read(...args: string[]): Promise<string | undefined>;
  /** Runs git at the terminal; true if it succeeds. */
  run(...args: string[]): Promise<boolean>;
  /** The command line, quoted for a shell. */
  typed(...args: string[]): string;
}

export const ownGit = (directory: string, env: NodeJS.ProcessEnv): OwnGit => ({
  directory,
  read: (...args) => outputOf('git', ['-C', directory, ...args], env),
  run: async (...args) => (await runAtTerminal('git', ['-C', directory, ...args], env)) === 0,
  typed: (...args) => ['git', '-C', directory, ...args].map(shellQuoted).join(' '),
});

/** The commit of a full ref, or undefined. */
export const commitOf = (git: OwnGit, name: string): Promise<string | undefined> =>
  git.read('rev-parse', '--verify', '--quiet', name);
