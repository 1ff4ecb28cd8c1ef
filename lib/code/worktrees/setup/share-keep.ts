import { readlinkSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { readCase } from '../../../../store/cases/cases.ts';
import { isPlainDirectory } from '../../../../store/fs/plain-path.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import {
  directoryIn,
  newSnapshotDir,
  placeSnapshot,
} from '../../../../store/worktrees/shared-snapshots.ts';
import { someOf } from '../../../text/wording.ts';
import { ignoredPaths } from '../../../tools/git/read/ignore-rules.ts';
import { onDisk } from '../../../tools/git/run/index-copy.ts';
import { isThere } from '../../../tools/git/run/plain-file.ts';
import { copyTree, inspectTree, removeTree } from '../../../tools/process/directory-tree.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';
import { syncDisk } from '../../../tools/process/system-programs.ts';
import type { WorktreeNeeds } from '../needs.ts';
import type { Sharing, SnapshotKeys } from './share-key.ts';
import { isLinkInside, SNAPSHOT_BOUNDS } from './share-rules.ts';
import { removeSurplus, shareObstacle } from './share-upkeep.ts';

export interface Kept {
  sharing: Sharing;
  keys: SnapshotKeys;
  /** The files beside the directories before the command ran. */
  before: ReadonlySet<string>;
  /** Whether scripts may have written files beside them, which are run again in each worktree. */
  allowsMore: boolean;
}

/**
 * Copies what a setup command installed to the snapshots, and returns the names of the directories. Throws an Error with the
 * reason, as a clause, if that would not be what the command installs in another worktree.
 */
export const keepSnapshot = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { sharing, keys, before, allowsMore }: Kept,
): Promise<string[]> => {
  const directories = sharing.directories.filter((path) =>
    isPlainDirectory(record.path, join(record.path, path)),
  );
  if (directories.length === 0) throw new Error(`${sharing.command} did not create it`);
  await requireIgnored(service, record, directories);
  await requireNothingBeside(service, record, { sharing, before, allowsMore });
  const run = treeRun(service, sharing);
  let bytes = 0;
  for (const path of directories) bytes += await requireShareable(record, path, run);
  if (bytes > SNAPSHOT_BOUNDS.bytes / 2) throw new Error('it is too large for a snapshot');
  await make(service, record, { sharing, keys, directories, bytes });
  await removeSurplus(service);
  return directories;
};

const treeRun = ({ config }: WorktreeNeeds, { marker, signal }: Sharing) => ({
  env: cleanEnvironment(config.env),
  marker,
  signal,
});

// A copy that git does not ignore would count as a change.
const requireIgnored = async (
  { git }: WorktreeNeeds,
  record: WorktreeRecord,
  directories: readonly string[],
): Promise<void> => {
  const ignored = await ignoredPaths(git.at(record), directories);
  const shown = directories.find((path) => ignored?.has(path) !== true);
  if (shown !== undefined) throw new Error(`git does not ignore ${shown}`);
};

/** The untracked and the changed files of a worktree outside of some directories, as latin1. */
export const filesBeside = async (
  { git }: WorktreeNeeds,
  record: WorktreeRecord,
  directories: readonly string[],
): Promise<ReadonlySet<string>> => {
  const others = ['ls-files', '--others', '--modified', '-z', '--', '.'];
  const without = directories.map((path) => `:(exclude,top,literal)${path}`);
  const env = { GIT_LITERAL_PATHSPECS: '0' };
  return new Set(await git.at(record).names([...others, ...without], { env, read: true }));
};

const requireNothingBeside = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { sharing, before, allowsMore }: Pick<Kept, 'sharing' | 'before' | 'allowsMore'>,
): Promise<void> => {
  const { command, install, directories } = sharing;
  const after = await filesBeside(service, record, directories);
  const more = [...after].filter((path) => !before.has(path));
  const nested = more.find((path) => path.split('/').includes(install.directory));
  if (nested !== undefined) {
    const parts = nested.split('/');
    const path = parts.slice(0, parts.indexOf(install.directory) + 1).join('/');
    throw new Error(`${command} also creates ${path}. Add ${path} to worktrees.share`);
  }
  if (more.length === 0 || allowsMore) return;
  throw new Error(`${command} also wrote ${someOf(more.slice(0, 3))}, which a copy would lack`);
};

const requireShareable = async (
  record: WorktreeRecord,
  path: string,
  run: ReturnType<typeof treeRun>,
): Promise<number> => {
  const root = join(record.path, path);
  if (isThere(join(root, 'pyvenv.cfg')))
    throw new Error(`${path} is a Python virtual environment, which contains its absolute path`);
  const { bytes, links, odd } = await inspectTree(root, run);
  if (odd[0] !== undefined)
    throw new Error(`${join(path, odd[0])} is a set-uid program, a socket, a pipe or a device`);
  const leadsOut = links.find((link) => {
    const target = readlinkSync(onDisk({ path: root }, link), 'latin1');
    return !isLinkInside(`${path}/${link}`, target);
  });
  if (leadsOut !== undefined)
    throw new Error(`the link ${join(path, leadsOut)} is absolute or leads out of the worktree`);
  return bytes;
};

interface New extends Pick<Kept, 'sharing' | 'keys'> {
  directories: string[];
  bytes: number;
}

// The space that a snapshot must leave free.
const FREE_BYTES = 1024 ** 3;

const make = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { sharing, keys, directories, bytes }: New,
): Promise<void> => {
  const { store, config } = service;
  const { install, command } = sharing;
  const run = treeRun(service, sharing);
  const dir = newSnapshotDir(store.layout);
  if (dir === undefined) throw new Error('there is no state directory');
  let isPlaced = false;
  try {
    const { bavail, bsize } = await statfs(dir);
    if (bavail * bsize < bytes + FREE_BYTES) throw new Error('the disk has too little free space');
    for (const [at, path] of directories.entries()) {
      const failure = await copyTree(join(record.path, path), directoryIn(dir, at), run);
      if (failure !== undefined) throw new Error(`it could not be copied: ${failure}`);
    }
    // After a power cut, files that were not synced may be empty.
    if (!(await syncDisk(dir, cleanEnvironment(config.env))))
      throw new Error('this system has no `sync -f`');
    const refused = shareObstacle(service);
    if (refused !== undefined) throw new Error(refused);
    const item = await readCase(store, record.case_id);
    const snapshot = {
      ...{ project: item?.project ?? 'default', repository: record.repository },
      ...{ lockfile: install.lockfile, lockfile_sha256: keys.lockfile_sha256 },
      ...{ command, directories, bytes, created_at: store.clock().toISOString() },
    };
    isPlaced = placeSnapshot(store.layout, dir, { key: keys.own, snapshot });
  } finally {
    if (!isPlaced) await removeTree(dir, { env: run.env });
  }
};
