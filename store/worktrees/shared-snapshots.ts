import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isDone, orElse } from '../base/attempt.ts';
import { writePrivate } from '../consent/state-dir.ts';
import { knownWorkspaceId, stateOfWorkspace } from '../consent/workspace-id.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { checkedBy, readRegularFile } from '../front-matter/record-file.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { makeSyncedDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { SharedSnapshot } from '../records/shared-snapshot.ts';

/** A snapshot on disk. */
export interface StoredSnapshot {
  key: string;
  snapshot: SharedSnapshot;
  used_at: Date;
}

/**
 * The directory of a workspace's snapshots. It is in the state directory, which no sandbox shows: a run could otherwise change
 * what later worktrees get. Undefined without a state directory.
 */
export const sharedHome = (layout: Layout): string | undefined => {
  const { state } = layout;
  const id = state && knownWorkspaceId(layout, state);
  return state && id ? join(stateOfWorkspace(state, id), 'shared') : undefined;
};

/** All snapshots, the most recently used first. */
export const sharedSnapshots = (layout: Layout): StoredSnapshot[] =>
  namesIn(layout)
    .flatMap((key) => findSnapshot(layout, key) ?? [])
    .toSorted((a, b) => b.used_at.getTime() - a.used_at.getTime());

/** The snapshot with this key; undefined if there is none, or its record is damaged. */
export const findSnapshot = (layout: Layout, key: string): StoredSnapshot | undefined => {
  const home = sharedHome(layout);
  if (home === undefined) return undefined;
  return orElse(() => {
    const bytes = readRegularFile(home, join(home, key, RECORD));
    if (bytes === undefined) return undefined;
    const snapshot = checkedBy(SharedSnapshot, JSON.parse(bytes.toString('utf8')));
    return { key, snapshot, used_at: statSync(join(home, key, RECORD)).mtime };
  }, undefined);
};

const RECORD = 'snapshot.json';

/** The place of one directory of a snapshot. */
export const sharedDirectory = (layout: Layout, key: string, at: number): string =>
  directoryIn(join(sharedHome(layout) ?? '', key), at);

/** The place of one directory in a snapshot that is being made. */
export const directoryIn = (dir: string, at: number): string => join(dir, String(at));

/** Creates an empty directory for a snapshot that is being made; undefined without a state directory. */
export const newSnapshotDir = (layout: Layout): string | undefined => {
  const home = sharedHome(layout);
  if (home === undefined) return undefined;
  makeSyncedDirectory(home, 0o700);
  const dir = join(home, `${PARTIAL}${randomUUID()}`);
  mkdirSync(dir, { mode: 0o700 });
  return dir;
};

const PARTIAL = '.partial-';
const REMOVED = '.removed-';

/** Puts a finished snapshot in place under its key. False if there is one already, or if it was withdrawn meanwhile. */
export const placeSnapshot = (
  layout: Layout,
  dir: string,
  { key, snapshot }: Pick<StoredSnapshot, 'key' | 'snapshot'>,
): boolean => {
  if (!isDirectoryItself(directoryIn(dir, 0))) return false;
  writePrivate(join(dir, RECORD), `${JSON.stringify(snapshot)}\n`);
  const place = join(sharedHome(layout) ?? '', key);
  return isDone(() => renameSync(dir, place), 'ENOTEMPTY', 'EEXIST');
};

/** Notes that a snapshot was used now. */
export const touchSnapshot = (layout: Layout, key: string, now: Date): void =>
  // It may have been removed meanwhile.
  orElse(() => utimesSync(join(sharedHome(layout) ?? '', key, RECORD), now, now), undefined);

/** Takes a snapshot, by its name, away at once. Returns the directory that remains to be deleted; undefined if there is none. */
export const withdrawSnapshot = (layout: Layout, name: string): string | undefined => {
  const home = sharedHome(layout) ?? '';
  const dir = join(home, `${REMOVED}${randomUUID()}`);
  return isDone(() => renameSync(join(home, name), dir), 'ENOENT') ? dir : undefined;
};

/** The names of all snapshots, also of those with a damaged record. */
export const snapshotNames = (layout: Layout): string[] =>
  namesIn(layout).filter((name) => !name.startsWith('.'));

/** The names of snapshots that are being made. */
export const partialNames = (layout: Layout): string[] =>
  namesIn(layout).filter((name) => name.startsWith(PARTIAL));

/** Directories of snapshots that a former daemon did not finish or did not delete. */
export const leftoverSnapshotDirs = (layout: Layout): string[] =>
  namesIn(layout)
    .filter((name) => name.startsWith(PARTIAL) || name.startsWith(REMOVED))
    .map((name) => join(sharedHome(layout) ?? '', name));

const namesIn = (layout: Layout): string[] => {
  const home = sharedHome(layout);
  return home === undefined ? [] : listDirectory(home);
};
