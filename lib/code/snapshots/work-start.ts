import { ServiceError } from '../../errors.ts';
import type { Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { takePicture } from './picture.ts';
import { patchBetween } from './snapshot.ts';

/** Keeps the files of a worktree as work begins from them, untracked ones too, until work begins in it again. */
export const keepWorkStart = (git: Git, worktree: GitWorktree): Promise<void> =>
  git.turn(worktree, async (now) => {
    const { files } = await takePicture(now);
    await now.run(['update-ref', refOf(now), files]);
  });

/** What changed since. Throws `git_failed` where what was kept is gone. */
export const patchSinceStart = (git: Git, worktree: GitWorktree): Promise<Buffer> =>
  git.turn(worktree, async (now) => {
    return patchBetween(now, {
      before: { files: await keptStart(now) },
      after: await takePicture(now),
    });
  });

/** The paths that changed since, each byte a character. Throws `git_failed` where what was kept is gone. */
export const changedSinceStart = async (now: GitAt<GitWorktree>): Promise<Set<string>> => {
  const files = await keptStart(now);
  const { files: after } = await takePicture(now);
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', files, after, '--'];
  return new Set(await now.names(args));
};

const keptStart = async (now: GitAt<GitWorktree>): Promise<string> => {
  const files = await now.find(['rev-parse', '--verify', '--quiet', refOf(now)]);
  if (files === undefined) throw new ServiceError('git_failed', GONE);
  return files;
};

const GONE =
  'What stood in the worktree when the plan was approved is not kept any more: its ref below refs/dossier/approved was removed.';

// One session works in a worktree at a time.
const refOf = ({ place }: GitAt<GitWorktree>): string =>
  `refs/dossier/approved/${place.case_id ?? 'work'}`;
