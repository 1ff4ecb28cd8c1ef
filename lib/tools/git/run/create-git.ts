import { lockOn } from '../../../../store/base/locks.ts';
import { createLocks } from '../../../../store/base/mutex.ts';
import { type Environment, withoutTokens } from '../../process/environment.ts';
import { findProgram } from '../../process/find-program.ts';
import { runGitCommand } from './command.ts';
import type { Git, GitAt, GitPlace, RunGit, RunOptions } from './git.ts';

/** Creates the only access to git. The program is looked up once, so that a later change of PATH has no effect. */
export const createGit = ({ env, login = {} }: { env: Environment; login?: Environment }): Git => {
  const program = findProgram('git', env);
  const locks = createLocks();
  const now: RunGit = (place, args, options = {}) =>
    runGitCommand({
      program,
      env: options.remote ? { ...env, ...(options.tokens ? login : withoutTokens(login)) } : env,
      place,
      args,
      options,
    });
  const inTurn: RunGit = async (place, args, options = {}) => {
    if (options.read === true || options.remote === true) return now(place, args, options);
    return locks.take(lockOn.git(await commonDirOf(now, place)), () => now(place, args, options));
  };
  return {
    program,
    at: (place) => gitAt(inTurn, place),
    turn: (place, work) => locks.take(lockOn.git(place.common_dir), () => work(gitAt(now, place))),
  };
};

const commonDirOf = async (run: RunGit, place: GitPlace): Promise<string> => {
  if (typeof place !== 'string') return place.common_dir;
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  return (await gitAt(run, place).find(args, { ok: [0, 128] })) ?? place;
};

/** Binds git to a place, with options that apply to each command. */
export const gitAt = <P extends GitPlace>(
  runGit: RunGit,
  place: P,
  always: RunOptions = {},
): GitAt<P> => {
  const run: GitAt<P>['run'] = (args, options) =>
    runGit(place, args, { ...always, ...options, env: { ...always.env, ...options?.env } });
  const read: GitAt<P>['read'] = async (args, options) =>
    (await run(args, { ...options, read: true })).stdout;
  const split = async (separator: string, ...asked: Parameters<typeof read>): Promise<string[]> =>
    (await read(...asked)).toString('latin1').split(separator).filter(Boolean);
  return {
    place,
    at: (other) => gitAt(runGit, other, always),
    with: (more) =>
      gitAt(runGit, place, { ...always, ...more, env: { ...always.env, ...more.env } }),
    run,
    read,
    text: async (...asked) => withoutEnd(await read(...asked)),
    find: async (args, options) => {
      const { code, stdout } = await run(args, { ok: [0, 1, 128], ...options, read: true });
      return code === 0 ? withoutEnd(stdout) : undefined;
    },
    lines: (...asked) => split('\n', ...asked),
    names: (...asked) => split('\0', ...asked),
  };
};

const withoutEnd = (output: Buffer): string => output.toString('utf8').replace(/\n$/, '');
