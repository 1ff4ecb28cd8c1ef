import { ServiceError } from '../../errors.ts';
import type { Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { takePicture } from './picture.ts';
import { patchBetween } from './snapshot.ts';

/** Keeps the files of a worktree at the start of work, untracked ones included, until the next start. */
export const keepWorkStart = (git: Git, worktree: GitWorktree): Promise<void> =>
  git.turn(worktree, async (now) => {
    const { files } = await takePicture(now);
    await now.run(['update-ref', refOf(now), files]);
  });

/**
 * The patch of all changes since the start of work, and the same without the new files of `withheld`, as latin1. A file that
 * existed at the start is not left out: its former content is nowhere else once other work starts. Throws `git_failed` if
 * the ref of the start is gone.
 */
export const patchSinceStart = (
  git: Git,
  worktree: GitWorktree,
  withheld: readonly string[],
): Promise<{ since: Buffer; shared: Buffer }> =>
  git.turn(worktree, async (now) => {
    const pair = { before: { files: await keptStart(now) }, after: await takePicture(now) };
    const since = await patchBetween(now, pair);
    if (withheld.length === 0) return { since, shared: since };
    const named = new Set(withheld);
    return { since, shared: await patchBetween(now, pair, (path) => named.has(path)) };
  });

/** The latin1 paths that changed since the start of work. Throws `git_failed` if its ref is gone. */
export const changedSinceStart = async (now: GitAt<GitWorktree>): Promise<Set<string>> =>
  changedSince(now, await keptStart(now));

/** The latin1 paths whose files differ from a tree or commit. */
export const changedSince = async (
  now: GitAt<GitWorktree>,
  before: string,
): Promise<Set<string>> => {
  const { files } = await takePicture(now);
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, files, '--'];
  return new Set(await now.names(args));
};

const keptStart = async (now: GitAt<GitWorktree>): Promise<string> => {
  const files = await now.find(['rev-parse', '--verify', '--quiet', refOf(now)]);
  if (files === undefined) throw new ServiceError('git_failed', GONE);
  return files;
};

const GONE =
  'The state of the worktree at the approval of the plan is lost: its ref below refs/dossier/approved was removed.';

// One ref is enough, because one session at a time works in a worktree.
const refOf = ({ place }: GitAt<GitWorktree>): string =>
  `refs/dossier/approved/${place.case_id ?? 'work'}`;
