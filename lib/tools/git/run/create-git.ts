import { lockOn } from '../../../../store/base/locks.ts';
import { createLocks } from '../../../../store/base/mutex.ts';
import type { Environment } from '../../process/environment.ts';
import { findProgram } from '../../process/find-program.ts';
import { runGitCommand } from './command.ts';
import type { Git, GitPlace, RunGit } from './git.ts';
import { gitAt } from './git-at.ts';

/** The one door to git. The program is looked up once, so that no PATH can change later what runs. */
export const createGit = ({ env, login = {} }: { env: Environment; login?: Environment }): Git => {
  const program = findProgram('git', env);
  const locks = createLocks();
  const now: RunGit = (place, args, options = {}) =>
    runGitCommand({
      program,
      env: options.remote ? { ...env, ...login } : env,
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
