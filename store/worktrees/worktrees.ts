import { lstatSync, realpathSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { messageOf, orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { isAtOrBelow } from '../base/paths.ts';
import { readSealed, sealedText } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { Problem } from '../front-matter/problem.ts';
import { checkedBy, readRegularFile } from '../front-matter/record-file.ts';
import { createFile, removeFile, replaceFile } from '../fs/durable.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { makeSyncedDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { WorktreeRecord } from '../records/worktree.ts';
import { trustCommandFor } from '../settings/trust/waiting.ts';
import { readyToWrite, type Store } from '../store.ts';

/**
 * The record of a Work item's worktree, or undefined. Programs run where it says: one that this machine did not write is
 * `worktree_elsewhere`, and one that is no such record `unreadable_record`, at every reading.
 */
export const readWorktree = (
  { layout }: Pick<Store, 'layout'>,
  caseId: string,
): WorktreeRecord | undefined => {
  const found = readAnyWorktree(layout, caseId);
  if (found === undefined || found.isOurs) return found?.record;
  throw new StoreError('worktree_elsewhere', elsewhere(layout, found.record));
};

/** The same, and whether this machine wrote it. */
export const readAnyWorktree = (layout: Layout, caseId: string) =>
  readSealed(layout, worktreeFile(layout, caseId), (value) => check(layout, value, caseId));

const elsewhere = (layout: Layout, { case_id, path }: WorktreeRecord): string =>
  `.dossier/worktrees/${case_id}.json was not written on this machine, so nothing runs in ${path}. Confirm it with ${trustCommandFor(layout)}, or make the worktree anew: POST /api/worktrees, or POST /api/worktrees/${case_id}/attach.`;

/** False when there is a record of this machine already: of two that save at once, one wins. */
export const saveWorktree = async (store: Store, record: WorktreeRecord): Promise<boolean> => {
  await readyToWrite(store);
  const { layout } = store;
  if (readAnyWorktree(layout, record.case_id)?.isOurs === false)
    return writeWorktree(layout, record);
  return createFile(layout, worktreeFile(layout, record.case_id), textOf(layout, record));
};

/** Writes what a rebase changed of the record: what the worktree's work is measured from. */
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
  sealedText(layout, worktreeFile(layout, record.case_id), relativeIn(layout, record));

/** Writes a record over the one that is there; false where that is gone meanwhile. */
export const writeWorktree = async (layout: Layout, record: WorktreeRecord): Promise<boolean> => {
  const path = worktreeFile(layout, record.case_id);
  const before = readRegularFile(layout.root, path);
  if (before !== undefined) await replaceFile(layout, path, before, textOf(layout, record));
  return before !== undefined;
};

/** Writes the record of a worktree anew, and answers it. One that is gone meanwhile is not made again. */
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

/** The records of all worktrees, those of Work items that are gone and those that cannot be read among them. */
export const worktreeRecords = (store: Store): FoundRecord[] =>
  worktreeOwners(store.layout).flatMap((case_id): FoundRecord[] => {
    try {
      const record = readWorktree(store, case_id);
      return record === undefined ? [] : [{ case_id, record }];
    } catch (error) {
      return [{ case_id, problem: messageOf(error) }];
    }
  });

/** The Work items that have a record. */
export const worktreeOwners = ({ worktrees }: Layout): string[] =>
  listDirectory(worktrees).flatMap((name) => /^([0-9a-f-]{36})\.json$/.exec(name)?.[1] ?? []);

export const forgetWorktree = async (store: Store, caseId: string): Promise<void> => {
  await readyToWrite(store);
  await removeFile(store.layout, worktreeFile(store.layout, caseId));
};

/** One at a time for each worktree. Taken outside of the Work item's own turn, never within it. */
export const inWorktreeTurn = <T>(
  { locks }: Store,
  caseId: string,
  work: () => Promise<T>,
): Promise<T> => locks.take(lockOn.worktree(caseId), work);

/**
 * One at a time that writes files of a worktree for the operator, or notes how they are before a Plan turn: no change
 * falls into that. Taken within the worktree's turn, never outside of it by one who holds this.
 */
export const inFileTurn = <T>(
  { locks }: Store,
  caseId: string,
  work: () => Promise<T>,
): Promise<T> => locks.take(lockOn.files(caseId), work);

/** The directory that worktrees are made in, without links, made when it is not there. */
export const worktreesHome = (layout: Layout, root = layout.worktrees): string => {
  const home = resolve(layout.root, root);
  makeSyncedDirectory(home, 0o777, layout.root);
  return realpathSync(home);
};

/** The directory that a path leads to, without links; undefined where there is none. */
export const realDirectory = (path: string): string | undefined => {
  const real = orElse(() => realpathSync(path), undefined, ...NO_WAY);
  return real !== undefined && isDirectoryItself(real) ? real : undefined;
};

const NO_WAY = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'];

/** What a path leads to: a directory, nothing, or something else: no directory, or one behind a link. */
export const whatIsAt = (path: string): 'directory' | 'nothing' | 'else' => {
  const look = () => lstatSync(path).isDirectory() && realpathSync(path) === path;
  return orElse(() => (look() ? 'directory' : 'else'), 'nothing', 'ENOENT', 'ENOTDIR');
};

/**
 * Keeps what a removed worktree held beside the Work item's records; false when that file is there already. `write` puts
 * it into an open file, after `head`.
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

/** The names of the patches that are kept beside a Work item's records. */
export const recoveredPatches = ({ layout }: Store, dir: string): string[] =>
  listDirectory(recoveredDir(layout, dir)).filter((name) => name.endsWith('.patch'));

/** Removes one of them; its path is relative to the workspace. */
export const removeRecovered = ({ layout }: Store, path: string): Promise<boolean> =>
  removeFile(layout, join(layout.root, path));

/** Where a Work item's records keep what would be lost. */
export const recoveredDir = ({ root }: Pick<Layout, 'root'>, dir: string): string =>
  join(root, dir, 'recovered');

/** Where the record is. */
export const worktreeFile = ({ worktrees }: Layout, caseId: string): string =>
  join(worktrees, `${caseId}.json`);

// What lies in the workspace is named from there: a workspace that is moved takes it along.
const relativeIn = (layout: Layout, record: WorktreeRecord): WorktreeRecord =>
  withPlaces(record, (path) =>
    isAtOrBelow(path, layout.dossier) ? relative(layout.root, path) : path,
  );

const check = (layout: Layout, value: unknown, caseId: string): WorktreeRecord => {
  const place = (path: string) => placeNow(layout, path);
  const record = checkedBy(WorktreeRecord, withPlaces(Object(value), place));
  if (record.case_id === caseId) return record;
  throw new Problem('not_a_record', '/case_id names another Work item');
};

const withPlaces = <T extends { path?: unknown; turn_dir?: unknown }>(
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

// Earlier versions wrote the whole path: what is not there any more is looked for where the workspace is now.
const placeNow = ({ root, dossier }: Layout, path: string): string => {
  const now = resolve(root, path);
  // Anything else that is no whole path is refused as what it is.
  if (now !== path && !isAtOrBelow(now, dossier)) return path;
  const [, below] = /\/\.dossier\/((?:worktrees|repositories)\/.+)$/s.exec(path) ?? [];
  if (below === undefined || whatIsAt(now) !== 'nothing') return now;
  const moved = resolve(dossier, below);
  return isAtOrBelow(moved, dossier) && whatIsAt(moved) === 'directory' ? moved : now;
};
