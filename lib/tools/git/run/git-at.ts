import type { GitAt, GitPlace, RunGit, RunOptions } from './git.ts';

/** Binds git to a place, and to `always`, which holds for each of its commands. */
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
