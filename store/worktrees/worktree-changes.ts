import { renameSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode, isDone } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { readSealed, sealedText } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { checkedBy, readRegularFile } from '../front-matter/record-file.ts';
import { putFile } from '../front-matter/text-file.ts';
import { removeDirectory } from '../fs/directories.ts';
import { dropTemporary } from '../fs/durable.ts';
import { undoPlace } from '../fs/place.ts';
import { assertNoLinks } from '../fs/plain-path.ts';
import { removeTree } from '../fs/remove.ts';
import { syncDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { WorktreeChange } from '../records/worktree.ts';
import { readyToWrite, type Store } from '../store.ts';

/**
 * Records that git begins to add or remove a worktree. git does neither atomically, so a power cut can leave any part: the
 * record says which files were the daemon's.
 */
export const saveWorktreeChange = async (store: Store, change: WorktreeChange): Promise<void> => {
  await readyToWrite(store);
  const { layout } = store;
  const path = fileOf(layout, change.case_id);
  const text = sealedText(layout, path, change);
  const before = readRegularFile(layout.root, path);
  await putFile(layout, path, { before, mode: 0o600 }, text);
};

/** The unfinished change of a Work item's worktree. Records of other machines are ignored. */
export const readWorktreeChange = (layout: Layout, caseId: string): WorktreeChange | undefined => {
  const check = (value: unknown): WorktreeChange => checkedBy(WorktreeChange, value);
  const found = readSealed(layout, fileOf(layout, caseId), check);
  return found?.isOurs === true ? found.record : undefined;
};

/** The ids of Work items with such a change. */
export const worktreeChanges = ({ worktrees }: Layout): string[] =>
  listDirectory(worktrees).flatMap(
    (name) => /^([0-9a-f-]{36})\.change\.json$/.exec(name)?.[1] ?? [],
  );

export const removeWorktreeChange = async (layout: Layout, caseId: string): Promise<void> => {
  if (!isDone(() => unlinkSync(fileOf(layout, caseId)), 'ENOENT')) return;
  await syncDirectory(layout.worktrees);
};

/**
 * Removes a worktree's directory: by one rename, which is on disk before any file in it is deleted. If `check` throws for the
 * renamed directory, it is put back. After a crash it is in `.dossier/undo`.
 */
export const dropWorktreeDirectory = async (
  { layout }: Store,
  path: string,
  check: (taken: string) => Promise<void>,
): Promise<void> => {
  assertNoLinks(layout.root, dirname(path));
  const taken = await moveDirectoryToUndo(layout, path);
  try {
    await check(taken);
  } catch (error) {
    await putWorktreeBack(layout, taken, path);
    throw error;
  }
  const trash = await removeDirectory(layout, taken);
  if (trash === undefined) return;
  // The next start removes what is left.
  await removeTree(trash).catch(() => dropTemporary(trash));
};

const MOST_TRIES = 5;

// A program may make the directory again, such as a watching build: what it wrote goes to `.dossier/undo`.
const putWorktreeBack = async (layout: Layout, taken: string, path: string): Promise<void> => {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (isDone(() => renameSync(taken, path), 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'))
      return syncDirectory(dirname(path));
    await moveDirectoryToUndo(layout, path);
  }
  throw new StoreError('file_busy', `The worktree is at ${taken} now. Move it back to ${path}`);
};

/** Syncs the name of a worktree's directory to disk. */
export const syncWorktreeName = (path: string): Promise<void> => syncDirectory(dirname(path));

/** Moves a directory to `.dossier/undo`, or, from another disk, to a name beside it; returns the new path. */
export const moveDirectoryToUndo = async (layout: Layout, path: string): Promise<string> => {
  const kept = moveDirectory(path, undoPlace(layout, path));
  await syncDirectory(dirname(path));
  return kept;
};

const moveDirectory = (path: string, kept: string): string => {
  try {
    renameSync(path, kept);
    return kept;
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
  }
  const beside = `${path}-${Date.now()}`;
  renameSync(path, beside);
  return beside;
};

const fileOf = ({ worktrees }: Layout, caseId: string): string =>
  join(worktrees, `${caseId}.change.json`);
