import { shellQuoted } from '../../../store/base/text.ts';
import { outputOf, runAtTerminal } from '../../tools/process/terminal.ts';

/** The operator's own git in a checkout, as they would type it: their settings, hooks and signing hold. */
export interface OwnGit {
  /** What it answers; undefined where it fails. */
  read(...args: string[]): Promise<string | undefined>;
  /** At their terminal; true where it succeeds. */
  run(...args: string[]): Promise<boolean>;
  /** As it is typed. */
  typed(...args: string[]): string;
}

export const ownGit = (directory: string, env: NodeJS.ProcessEnv): OwnGit => ({
  read: (...args) => outputOf('git', ['-C', directory, ...args], env),
  run: async (...args) => (await runAtTerminal('git', ['-C', directory, ...args], env)) === 0,
  typed: (...args) => ['git', '-C', directory, ...args].map(shellQuoted).join(' '),
});
