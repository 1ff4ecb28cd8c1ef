import { createHash, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Checkout, Git, GitWorktree } from '../../tools/git/run/git.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { plainFilesBelow } from '../../tools/git/run/plain-file.ts';
import { type Disarmed, disarm, dropEmptyModules, type GuardedRepositories } from './guard.ts';
import { type Over, type TakenIn, takeIn } from './import-commits.ts';
import { type DroppedIds, dropSetIds } from './setuid.ts';

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

const MOST = 100_000;

/** Takes in what git-lfs stored in a turn: each file whose name is the SHA-256 of what it holds, and no other. */
const takeInLfs = async (
  { common_dir }: Checkout,
  { dir, room }: { dir: string; room: string },
): Promise<void> => {
  const from = join(dir, 'lfs', 'objects');
  const to = join(common_dir, 'lfs', 'objects');
  for (const path of plainFilesBelow(from, MOST)) {
    const [, oid] = /^[0-9a-f]{2}\/[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(path) ?? [];
    if (oid !== undefined && !existsSync(join(to, path)))
      await takeInFile(join(from, path), { to: join(to, path), room, oid });
  }
};

// Copied first: what is hashed is what is taken.
const takeInFile = async (
  from: string,
  { to, room, oid }: { to: string; room: string; oid: string },
): Promise<void> => {
  mkdirSync(room, { recursive: true });
  mkdirSync(dirname(to), { recursive: true });
  const copy = join(room, randomUUID());
  copyFileSync(from, copy);
  const hash = createHash('sha256');
  await pipeline(createReadStream(copy), hash);
  if (hash.digest('hex') === oid) {
    const beside = `${to}.dossier`;
    // Made anew: what may be done with it is not the agent's to say.
    await pipeline(createReadStream(copy), createWriteStream(beside));
    renameSync(beside, to);
  }
  rmSync(copy, { force: true });
};
