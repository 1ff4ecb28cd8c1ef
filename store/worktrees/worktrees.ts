import { lstatSync, realpathSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { messageOf, orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { isAtOrBelow } from '../base/paths.ts';
import { trustCommandFor } from '../base/text.ts';
import { readSealed, sealedText } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { Problem } from '../front-matter/problem.ts';
import { checkedBy, readRegularFile } from '../front-matter/record-file.ts';
import { createFile, removeFile, replaceFile } from '../fs/durable.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { makeSyncedDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { WorktreeRecord } from '../records/worktree.ts';
import { readyToWrite, type Store } from '../store.ts';

/**
 * The record of a Work item's worktree, or undefined. Programs run in the path that it names, so a record that this machine
 * did not write throws `worktree_elsewhere`, and any other file `unreadable_record`.
 */
export const readWorktree = (
  { layout }: Pick<Store, 'layout'>,
  caseId: string,
): WorktreeRecord | undefined => {
  const found = readAnyWorktree(layout, caseId);
  if (found === undefined || found.isOurs) return found?.record;
  throw new StoreError('worktree_elsewhere', elsewhereMessage(layout, found.record));
};

/** The record, whoever wrote it, and whether this machine did. */
export const readAnyWorktree = (layout: Layout, caseId: string) =>
  readSealed(layout, worktreeFile(layout, caseId), (value) => check(layout, value, caseId));

const elsewhereMessage = (layout: Layout, { case_id, path }: WorktreeRecord): string =>
  `.dossier/worktrees/${case_id}.json was not written on this machine, so nothing runs in ${path}. Confirm it with ${trustCommandFor(layout)}, or create the worktree again: POST /api/worktrees, or POST /api/worktrees/${case_id}/attach.`;

/** Saves a new record; false if this machine has one already, so that of two concurrent calls one wins. */
export const saveWorktree = async (store: Store, record: WorktreeRecord): Promise<boolean> => {
  await readyToWrite(store);
  const { layout } = store;
  if (readAnyWorktree(layout, record.case_id)?.isOurs === false)
    return writeWorktree(layout, record);
  return createFile(layout, worktreeFile(layout, record.case_id), textOf(layout, record));
};

/** Records the new base after a rebase. */
export const moveBase = async (
  store: Store,
  { case_id }: WorktreeRecord,
  moved: Pick<WorktreeRecord, 'base' | 'base_commit'>,
): Promise<void> => {
  const record = readWorktree(store, case_id);
  if (record === undefined) return;
  const { base_notes: _past, ...rest } = record;
  await replaceWorktree(store, { ...rest, ...moved });
};

const textOf = (layout: Layout, record: WorktreeRecord): string =>
  sealedText(layout, worktreeFile(layout, record.case_id), withRelativePaths(layout, record));

/** Overwrites an existing record; false if it is gone. */
export const writeWorktree = async (layout: Layout, record: WorktreeRecord): Promise<boolean> => {
  const path = worktreeFile(layout, record.case_id);
  const before = readRegularFile(layout.root, path);
  if (before !== undefined) await replaceFile(layout, path, before, textOf(layout, record));
  return before !== undefined;
};

/** Overwrites the record of a worktree, and returns it. A record that is gone is not created again. */
export const replaceWorktree = async (
  store: Store,
  record: WorktreeRecord,
): Promise<WorktreeRecord> => {
  await readyToWrite(store);
  await writeWorktree(store.layout, record);
  return record;
};

export interface FoundRecord {
  case_id: string;
  record?: WorktreeRecord;
  /** Why it cannot be read. */
  problem?: string;
}

/** The records of all worktrees, including unreadable ones and those of Work items that are gone. */
export const worktreeRecords = (store: Store): FoundRecord[] =>
  worktreeOwners(store.layout).flatMap((case_id): FoundRecord[] => {
    try {
      const record = readWorktree(store, case_id);
      return record === undefined ? [] : [{ case_id, record }];
    } catch (error) {
      return [{ case_id, problem: messageOf(error) }];
    }
  });

/** The ids of Work items with a record. */
export const worktreeOwners = ({ worktrees }: Layout): string[] =>
  listDirectory(worktrees).flatMap((name) => /^([0-9a-f-]{36})\.json$/.exec(name)?.[1] ?? []);

export const forgetWorktree = async (store: Store, caseId: string): Promise<void> => {
  await readyToWrite(store);
  await removeFile(store.layout, worktreeFile(store.layout, caseId));
};

/** Runs `work` under the lock of a worktree. Never call it under the lock of the Work item. */
export const withWorktreeLock = <T>(
  { locks }: Store,
  caseId: string,
  work: () => Promise<T>,
): Promise<T> => locks.take(lockOn.worktree(caseId), work);

/**
 * Runs `work` under the lock of a worktree's files, which excludes edits by the operator and the baseline of a Plan turn
 * from each other. It may be taken under the lock of the worktree, but not the other way round.
 */
export const withFilesLock = <T>(
  { locks }: Store,
  caseId: string,
  work: () => Promise<T>,
): Promise<T> => locks.take(lockOn.files(caseId), work);

/** The real path of the directory for worktrees, which is created if missing. */
export const worktreesHome = (layout: Layout, root = layout.worktrees): string => {
  const home = resolve(layout.root, root);
  makeSyncedDirectory(home, 0o777, layout.root);
  return realpathSync(home);
};

/** The real path of a directory; undefined if there is none. */
export const realDirectory = (path: string): string | undefined => {
  const real = orElse(() => realpathSync(path), undefined, ...NO_WAY);
  return real !== undefined && isDirectoryItself(real) ? real : undefined;
};

const NO_WAY = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'];

/** What is at a path: a directory, nothing, or anything else, including a link to a directory. */
export const pathKind = (path: string): 'directory' | 'nothing' | 'else' => {
  const look = () => lstatSync(path).isDirectory() && realpathSync(path) === path;
  return orElse(() => (look() ? 'directory' : 'else'), 'nothing', 'ENOENT', 'ENOTDIR');
};

/**
 * Saves work of a removed worktree beside the Work item's records; false if the file exists. `write` writes into the open
 * file, after `head`.
 */
export const keepRecovered = (
  { layout }: Store,
  dir: string,
  file: { name: string; head: string; write: (into: number) => Promise<void> },
): Promise<boolean> =>
  createFile(layout, join(recoveredDir(layout, dir), file.name), async (handle) => {
    await handle.writeFile(file.head);
    await file.write(handle.fd);
  });

/** The names of the recovered patches of a Work item. */
export const recoveredPatches = ({ layout }: Store, dir: string): string[] =>
  listDirectory(recoveredDir(layout, dir)).filter((name) => name.endsWith('.patch'));

/** Removes a recovered patch; `path` is relative to the workspace. */
export const removeRecovered = ({ layout }: Store, path: string): Promise<boolean> =>
  removeFile(layout, join(layout.root, path));

/** The directory for recovered work, beside a Work item's records. */
export const recoveredDir = ({ root }: Pick<Layout, 'root'>, dir: string): string =>
  join(root, dir, 'recovered');

/** The path of the record. */
export const worktreeFile = ({ worktrees }: Layout, caseId: string): string =>
  join(worktrees, `${caseId}.json`);

// Paths below .dossier/ are stored relative to the workspace, so that it can be moved.
const withRelativePaths = (layout: Layout, record: WorktreeRecord): WorktreeRecord =>
  mapPaths(record, (path) =>
    isAtOrBelow(path, layout.dossier) ? relative(layout.root, path) : path,
  );

const check = (layout: Layout, value: unknown, caseId: string): WorktreeRecord => {
  const place = (path: string) => absolutePath(layout, path);
  const record = checkedBy(WorktreeRecord, mapPaths(Object(value), place));
  if (record.case_id === caseId) return record;
  throw new Problem('not_a_record', '/case_id names another Work item');
};

const mapPaths = <T extends { path?: unknown; turn_dir?: unknown }>(
  record: T,
  place: (path: string) => string,
): T => {
  const { path, turn_dir } = record;
  return {
    ...record,
    ...(typeof path === 'string' && { path: place(path) }),
    ...(typeof turn_dir === 'string' && { turn_dir: place(turn_dir) }),
  };
};

// Earlier releases stored absolute paths: a path that is gone is looked up in the workspace's present location.
const absolutePath = ({ root, dossier }: Layout, path: string): string => {
  const now = resolve(root, path);
  // Any other relative path is refused later.
  if (now !== path && !isAtOrBelow(now, dossier)) return path;
  const [, below] = /\/\.dossier\/((?:worktrees|repositories)\/.+)$/s.exec(path) ?? [];
  if (below === undefined || pathKind(now) !== 'nothing') return now;
  const moved = resolve(dossier, below);
  return isAtOrBelow(moved, dossier) && pathKind(moved) === 'directory' ? moved : now;
};
