import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Git, GitWorktree } from '../../tools/git/run/git.ts';
import { type Begun, beginRepository } from './begin.ts';
import { type GuardedRepositories, guard } from './guard.ts';
import { putOwn } from './own-refs.ts';
import { copyTags } from './pins.ts';
import { pointerTo } from './pointer.ts';
import type { RepositoryPlaces } from './view.ts';

interface Making {
  /** Where it is made, whole, before it is put where it belongs. */
  made: string;
  places: RepositoryPlaces;
  /** Refs of earlier turns of the session that are to be there again. */
  own: ReadonlyMap<string, string>;
}

/** Makes all that a turn's own repository needs, beside the place where it will be. */
export const makeRepository = async (
  git: Git,
  worktree: GitWorktree & { base_commit: string },
  { made, places, own }: Making,
): Promise<Begun & { guarded: GuardedRepositories }> => {
  const isClone = worktree.git_dir === worktree.common_dir;
  const dir = join(made, 'git');
  const seen_at = isClone ? places.operator : worktree.common_dir;
  const begun = await beginRepository(git.at(worktree), { dir, seen_at });
  const { refs } = begun;
  const kinds = new Map([...begun.kinds, ...(await putOwn(git.at(worktree), { dir, own, refs }))]);
  await copyTags(git.at(worktree), dir, { refs, kinds });
  writeFileSync(join(made, 'pointer'), pointerTo(places.dir));
  return { ...begun, kinds, guarded: await guard(git.at(worktree), worktree.base_commit) };
};
