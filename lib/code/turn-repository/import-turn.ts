import { createHash, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { unlinkIfThere } from '../../../store/fs/remove.ts';
import type { RecordedRepositories } from '../../../store/records/turn.ts';
import type { Checkout, Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { plainFilesBelow } from '../../tools/git/run/plain-file.ts';
import { removeEmptyModules, type SanitizeResult, sanitizeNestedRepositories } from './guard.ts';
import {
  type FinishedTurn,
  type ImportedCommits,
  importCommits,
  keepReplaced,
} from './import-commits.ts';
import { type ClearedSetIds, clearSetIds } from './setuid.ts';

export interface ImportedTurn extends ImportedCommits {
  disarmed: SanitizeResult;
  /** Files that were set-uid or set-gid. */
  set_ids: string[];
  /** Directories that were not read, in git's quoted form. */
  unseen: string[];
}

interface TurnImport extends FinishedTurn {
  guarded?: RecordedRepositories | undefined;
  aside: string;
}

/** Imports a finished turn: its branch, index and LFS objects; then sanitizes repositories inside the worktree. */
export const importTurn = async (
  git: Git,
  worktree: GitWorktree,
  over: TurnImport,
): Promise<ImportedTurn> => {
  const { guarded: before, room, aside } = over;
  try {
    // Without the directory the turn never began, or worked in the operator's repository itself.
    const isApart = existsSync(over.dir);
    const set_ids = isApart ? await clearWorktreeSetIds(worktree) : { dropped: [], unseen: [] };
    const take = isApart ? importCommits : keepStart;
    const { taken, failed } = await importBranch(git, worktree, { ...over, take });
    const disarmed =
      before === undefined
        ? { taken: [], mended: [], removed: [], unseen: [] }
        : await sanitizeNestedRepositories(git.at(worktree), { before, links: taken.links, aside });
    if (failed !== undefined) throw failed.error;
    removeEmptyModules(worktree);
    const unseen = [...new Set([...disarmed.unseen, ...set_ids.unseen.map(pathText)])];
    return { ...taken, disarmed, set_ids: set_ids.dropped, unseen };
  } finally {
    await rm(room, { recursive: true, force: true });
  }
};

const clearWorktreeSetIds = async ({ path, git_dir }: GitWorktree): Promise<ClearedSetIds> => {
  const [files, modules] = [await clearSetIds(path), await clearSetIds(join(git_dir, 'modules'))];
  return {
    dropped: [...files.dropped, ...modules.dropped],
    unseen: [...files.unseen, ...modules.unseen.map((name) => `.git/modules/${name}`)],
  };
};

// An error is returned, so that nested repositories are sanitized in any case.
const importBranch = async (
  git: Git,
  worktree: GitWorktree,
  { take, ...over }: TurnImport & { take: typeof importCommits },
): Promise<{ taken: ImportedCommits; failed?: { error: unknown } }> => {
  let taken = NOTHING_TAKEN;
  try {
    taken = await take(git.at(worktree), over);
    await importLfsObjects(worktree, over);
    return { taken };
  } catch (error) {
    return { taken, failed: { error } };
  }
};

// Of a turn without a repository of its own.
const keepStart = async (
  git: GitAt<GitWorktree>,
  { head }: FinishedTurn,
): Promise<ImportedCommits> => {
  const kept = await keepReplaced(git, head === null ? [] : [head], head);
  return { ...NOTHING_TAKEN, kept };
};

const NOTHING_TAKEN: ImportedCommits = {
  moved: false,
  held: undefined,
  kept: [],
  links: [],
  broken: undefined,
  notes: [],
};

const MOST = 100_000;

/** Imports git-lfs objects of a turn whose name is the SHA-256 of their content; ignores other files. */
const importLfsObjects = async (
  { common_dir }: Checkout,
  { dir, room }: { dir: string; room: string },
): Promise<void> => {
  const from = join(dir, 'lfs', 'objects');
  const to = join(common_dir, 'lfs', 'objects');
  for (const path of plainFilesBelow(from, MOST)) {
    const [, oid] = /^[0-9a-f]{2}\/[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(path) ?? [];
    if (oid !== undefined && !existsSync(join(to, path)))
      await importLfsObject(join(from, path), { to: join(to, path), room, oid });
  }
};

// Copied first, so that the hashed bytes are the imported bytes.
const importLfsObject = async (
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
    // Copied again, so that the file does not inherit permissions that the agent chose.
    await pipeline(createReadStream(copy), createWriteStream(beside));
    renameSync(beside, to);
  }
  unlinkIfThere(copy);
};
