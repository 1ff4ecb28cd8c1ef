import type { GitAt, GitPlace } from '../run/git.ts';

/** Whether a commit is another one or comes before it; false also for one that the repository does not have. */
export const isAncestor = async (
  git: GitAt<GitPlace>,
  commit: string,
  of: string,
): Promise<boolean> => {
  const args = ['merge-base', '--is-ancestor', commit, of];
  return (await git.find(args)) !== undefined;
};

/** Where two histories part; undefined when they have nothing in common. */
export const mergeBase = (
  git: GitAt<GitPlace>,
  one: string,
  other: string,
): Promise<string | undefined> => git.find(['merge-base', one, other], { ok: [0, 1] });
