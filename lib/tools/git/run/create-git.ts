import { lockOn } from '../../../../base/locks.ts';
import { createTurns } from '../../../../base/turns.ts';
import type { Environment } from '../../process/environment.ts';
import { findProgram } from '../../process/find-program.ts';
import { runGitCommand } from './command.ts';
import type { Git, GitPlace, RunGit } from './git.ts';

/** The one door to git. The program is looked up once, so that no PATH can change later what runs. */
export const createGit = ({ env, login = {} }: { env: Environment; login?: Environment }): Git => {
  const program = findProgram('git', env);
  const turns = createTurns();
  const now: RunGit = (place, args, options = {}) =>
    runGitCommand({
      program,
      env: options.remote ? { ...env, ...login } : env,
      place,
      args,
      options,
    });
  return {
    program,
    turn: (common_dir, work) => turns.take(lockOn.git(common_dir), () => work(now)),
    run: async (place, args, options = {}) => {
      if (options.read === true || options.remote === true) return now(place, args, options);
      return turns.take(lockOn.git(await commonDirOf(now, place)), () => now(place, args, options));
    },
  };
};

const commonDirOf = async (run: RunGit, place: GitPlace): Promise<string> => {
  if (typeof place !== 'string') return place.common_dir;
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const { code, stdout } = await run(place, args, { read: true, ok: [0, 128] });
  return code === 0 ? stdout.toString('utf8').trimEnd() : place;
};
