import { readFileSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDone, orElse } from '../base/attempt.ts';
import { readSealed, sealedText } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { checkedBy } from '../front-matter/record-file.ts';
import { removeDirectory } from '../fs/directories.ts';
import { createFile, dropTemporary, hasCode, replaceFile } from '../fs/durable.ts';
import { undoPlace } from '../fs/place.ts';
import { syncDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { WorktreeChange } from '../records/worktree-change.ts';
import { readyToWrite, type Store } from '../store.ts';

/**
 * Notes on disk that git begins to make or remove a worktree. git does neither in one step and syncs neither, so a power
 * cut leaves any part of it: the note says which files of it were only the daemon's.
 */
export const noteWorktreeChange = async (store: Store, change: WorktreeChange): Promise<void> => {
  await readyToWrite(store);
  const { layout } = store;
  const path = fileOf(layout, change.case_id);
  const text = sealedText(layout, path, change);
  const former = orElse(() => readFileSync(path), undefined, 'ENOENT');
  if (former === undefined) await createFile(layout, path, text, { mode: 0o600 });
  else await replaceFile(layout, path, former, text);
};

/** The change of a Work item's worktree that has not ended, or was cut off. One that this machine did not note is none. */
export const readWorktreeChange = (layout: Layout, caseId: string): WorktreeChange | undefined => {
  const check = (value: unknown): WorktreeChange => checkedBy(WorktreeChange, value);
  const found = readSealed(layout, fileOf(layout, caseId), check);
  return found?.isOurs === true ? found.record : undefined;
};

/** The Work items with such a change. */
export const worktreeChanges = ({ worktrees }: Layout): string[] =>
  listDirectory(worktrees).flatMap(
    (name) => /^([0-9a-f-]{36})\.change\.json$/.exec(name)?.[1] ?? [],
  );

export const forgetWorktreeChange = async (layout: Layout, caseId: string): Promise<void> => {
  if (!isDone(() => rmSync(fileOf(layout, caseId)), 'ENOENT')) return;
  await syncDirectory(layout.worktrees);
};

/**
 * Takes a worktree's directory away by one rename, which is on disk before anything in it goes: what is removed is never
 * half there.
 */
export const dropWorktreeDirectory = async ({ layout }: Store, path: string): Promise<void> => {
  const trash = await removeDirectory(layout, path);
  if (trash === undefined) return;
  // What cannot be removed now goes at the next start.
  await rm(trash, { recursive: true, force: true }).catch(() => dropTemporary(trash));
};

/** Resolves when the name of a worktree's directory is on disk. */
export const syncWorktreeName = (path: string): Promise<void> => syncDirectory(dirname(path));

/** Moves a directory into `.dossier/undo`, or beside its place where that is another disk; answers where. */
export const setDirectoryAside = async (layout: Layout, path: string): Promise<string> => {
  const kept = movedTo(path, undoPlace(layout, path));
  await syncDirectory(dirname(path));
  return kept;
};

const movedTo = (path: string, kept: string): string => {
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
