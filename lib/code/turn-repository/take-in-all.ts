import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, GitWorktree } from '../../tools/git/run/git.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { type Disarmed, disarm, dropEmptyModules, type GuardedRepositories } from './guard.ts';
import { takeInLfs } from './lfs.ts';
import { type DroppedIds, dropSetIds } from './set-ids.ts';
import { type Over, type TakenIn, takeIn } from './take-in.ts';

export interface AllTaken extends TakenIn {
  disarmed: Disarmed;
  /** Files that ran as somebody else than who starts them. */
  set_ids: string[];
  /** Directories that were not looked into, as git writes them for people. */
  unseen: string[];
}

interface AllOver extends Over {
  guarded?: GuardedRepositories | undefined;
  aside: string;
}

/** All that follows the end of a turn: its branch, what is staged, large files, and the repositories it may have made. */
export const takeInAll = async (
  git: Git,
  worktree: GitWorktree,
  over: AllOver,
): Promise<AllTaken> => {
  const { guarded: before, room, aside } = over;
  try {
    const set_ids = await setIdsOf(worktree);
    const { taken, failed } = await branchOf(git, worktree, over);
    const disarmed =
      before === undefined
        ? { taken: [], mended: [], removed: [], unseen: [] }
        : await disarm(git.at(worktree), { before, links: taken.links, aside });
    if (failed !== undefined) throw failed.error;
    dropEmptyModules(worktree);
    const unseen = [...new Set([...disarmed.unseen, ...set_ids.unseen.map(pathText)])];
    return { ...taken, disarmed, set_ids: set_ids.dropped, unseen };
  } finally {
    await rm(room, { recursive: true, force: true });
  }
};

const setIdsOf = async ({ path, git_dir }: GitWorktree): Promise<DroppedIds> => {
  const [files, modules] = [await dropSetIds(path), await dropSetIds(join(git_dir, 'modules'))];
  return {
    dropped: [...files.dropped, ...modules.dropped],
    unseen: [...files.unseen, ...modules.unseen.map((name) => `.git/modules/${name}`)],
  };
};

// What fails here leaves no repository in the worktree as the turn put it.
const branchOf = async (
  git: Git,
  worktree: GitWorktree,
  over: AllOver,
): Promise<{ taken: TakenIn; failed?: { error: unknown } }> => {
  let taken = NOTHING_TAKEN;
  try {
    // Where there is none the turn never began.
    if (existsSync(over.dir)) taken = await takeIn(git.at(worktree), over);
    await takeInLfs(worktree, over);
    return { taken };
  } catch (error) {
    return { taken, failed: { error } };
  }
};

const NOTHING_TAKEN: TakenIn = {
  moved: false,
  held: undefined,
  kept: [],
  links: [],
  broken: undefined,
  notes: [],
};
