import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Git, Worktree } from '../git.ts';
import { type Disarmed, disarm, dropEmptyModules, type Guarded } from './guard.ts';
import { takeInLfs } from './lfs.ts';
import { type Over, type TakenIn, takeIn } from './take-in.ts';

export interface AllTaken extends TakenIn {
  disarmed: Disarmed;
}

export interface AllOver extends Over {
  guarded?: Guarded | undefined;
  aside: string;
}

/** All that follows the end of a turn: its branch, what is staged, large files, and the repositories it may have made. */
export const takeInAll = async (git: Git, worktree: Worktree, over: AllOver): Promise<AllTaken> => {
  const { guarded: before, room, aside } = over;
  try {
    const { taken, failed } = await branchOf(git, worktree, over);
    const disarmed =
      before === undefined
        ? { taken: [], mended: [] }
        : await disarm(git, worktree, { before, links: taken.links, aside });
    if (failed !== undefined) throw failed.error;
    dropEmptyModules(worktree);
    return { ...taken, disarmed };
  } finally {
    await rm(room, { recursive: true, force: true });
  }
};

// What fails here leaves no repository in the worktree as the turn put it.
const branchOf = async (
  git: Git,
  worktree: Worktree,
  over: AllOver,
): Promise<{ taken: TakenIn; failed?: { error: unknown } }> => {
  let taken = NOTHING_TAKEN;
  try {
    // Where there is none the turn never began.
    if (existsSync(over.dir)) taken = await takeIn(git, worktree, over);
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
