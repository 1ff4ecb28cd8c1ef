import { shellQuoted } from '../../../store/base/text.ts';
import { firstLines } from '../../tools/git/run/error.ts';
import { GIT_PLACES } from '../../tools/process/environment.ts';
import { outputOf, runAtTerminalTold } from '../../tools/process/terminal.ts';
import { Refusal } from '../args/refusal.ts';

/** The operator's own git in a checkout, with their settings, hooks and signing. */
export interface OwnGit {
  directory: string;
  /** Returns the output; undefined if git fails. */
  read(...args: string[]): Promise<string | undefined>;
  /** Runs git at the terminal. Returns why it failed, in its own words; undefined if it succeeded. */
  run(...args: string[]): Promise<string | undefined>;
  /** The command line, quoted for a shell. */
  typed(...args: string[]): string;
}

/** The operator's git in a directory. Identity, settings and credentials of the environment apply, but no other repository. */
export const ownGit = (directory: string, source: NodeJS.ProcessEnv): OwnGit => {
  const env = { ...source };
  const dropped = GIT_PLACES.filter((name) => env[name] !== undefined);
  for (const name of dropped) delete env[name];
  // A command that is pasted into the same shell has to leave them out, too.
  const without = dropped.length === 0 ? [] : ['env', ...dropped.flatMap((name) => ['-u', name])];
  return {
    directory,
    read: (...args) => outputOf('git', ['-C', directory, ...args], env),
    run: async (...args) => {
      const { code, stderr } = await runAtTerminalTold('git', ['-C', directory, ...args], env);
      if (code === 0) return undefined;
      return reasonIn(stderr) || `git ${args[0]} ended with ${code ?? 'a signal'}`;
    },
    typed: (...args) => [...without, 'git', '-C', directory, ...args].map(shellQuoted).join(' '),
  };
};

/** The commit of a full ref, or undefined. */
export const commitOf = (git: OwnGit, name: string): Promise<string | undefined> =>
  git.read('rev-parse', '--verify', '--quiet', name);

/** The branch that is checked out, or `no branch`. */
export const checkedOut = async (git: OwnGit): Promise<string> =>
  (await git.read('symbolic-ref', '--quiet', 'HEAD'))?.replace('refs/heads/', '') ?? 'no branch';

/** The number of files that are not committed. Throws a Refusal if git fails. */
export const uncommitted = async (git: OwnGit, ...options: string[]): Promise<number> => {
  const said = await git.read('status', '--porcelain', ...options);
  if (said === undefined) throw new Refusal(`git status failed in ${git.directory}`);
  return said.split('\n').filter(Boolean).length;
};

/** A branch as commands of git take it: its name, or its full ref where the name may mean a tag or an option. */
export const branchWord = async (git: OwnGit, branch: string): Promise<string> => {
  const ref = refOf(branch);
  if (branch.startsWith('-')) return ref;
  const found = await git.read('rev-parse', '--symbolic-full-name', '--verify', '--quiet', branch);
  return found === ref ? branch : ref;
};

/** The name of a remote-tracking branch without its remote. The names of remotes may have slashes, too. */
export const localName = async (git: OwnGit, base: string): Promise<string> => {
  const remotes = (await git.read('remote'))?.split('\n').filter(Boolean) ?? [];
  const named = remotes.filter((name) => base.startsWith(`${name}/`));
  const longest = Math.max(-1, ...named.map(({ length }) => length));
  return base.slice(longest + 1);
};

export const refOf = (branch: string): string => `refs/heads/${branch}`;

// The advice to commit what did not pass a hook is not followed: the merge is aborted.
const reasonIn = (stderr: string): string =>
  firstLines(
    stderr.replaceAll(/^(?:(?:error|fatal): |(?:hint:|Not committing merge;).*$)/gm, ''),
  ).replace(/[.:]$/, '');
