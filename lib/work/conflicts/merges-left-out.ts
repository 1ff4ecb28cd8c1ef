import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { changedInMerges } from '../../tools/git/write/rebase.ts';

/** The warning for files that only merge commits of the branch changed, because git calls a rebase without them clean. */
export const mergesLeftOut = async (
  git: GitAt<GitWorktree>,
  { orig_head, upstream }: { orig_head: string; upstream: string },
): Promise<string[]> => {
  const files = await changedInMerges(git, upstream);
  if (files?.length === 0) return [];
  const what =
    files === undefined
      ? 'git cannot tell what merge commits of the branch changed themselves'
      : `merge commits of the branch changed ${listed(files.map(pathText))} themselves`;
  return [
    `${what}; a rebase leaves merge commits out, so compare with git diff ${orig_head.slice(0, 12)} afterwards`,
  ];
};

const MOST = 5;

const listed = (paths: readonly string[]): string =>
  paths.slice(0, MOST).join(', ') + (paths.length > MOST ? ` and ${paths.length - MOST} more` : '');
