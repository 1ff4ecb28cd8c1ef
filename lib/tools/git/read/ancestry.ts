import type { GitPlace, Runner } from '../run/git.ts';

/** Whether a commit is another one or comes before it; false also for one that the repository does not have. */
export const isAncestor = async (
  git: Runner,
  place: GitPlace,
  commit: string,
  of: string,
): Promise<boolean> => {
  const args = ['merge-base', '--is-ancestor', commit, of];
  return (await git.run(place, args, { read: true, ok: [0, 1, 128] })).code === 0;
};

/** Where two histories part; undefined when they have nothing in common. */
export const mergeBase = async (
  git: Runner,
  place: GitPlace,
  one: string,
  other: string,
): Promise<string | undefined> => {
  const args = ['merge-base', one, other];
  const { code, stdout } = await git.run(place, args, { read: true, ok: [0, 1] });
  return code === 0 ? stdout.toString('latin1').trim() : undefined;
};
