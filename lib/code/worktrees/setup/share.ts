import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf, orElse } from '../../../../store/base/attempt.ts';
import { isPlainDirectory } from '../../../../store/fs/plain-path.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import {
  findSnapshot,
  type StoredSnapshot,
  sharedDirectory,
  touchSnapshot,
} from '../../../../store/worktrees/shared-snapshots.ts';
import { pathKind } from '../../../../store/worktrees/worktrees.ts';
import type { WithConfig } from '../../../config.ts';
import { invalidState } from '../../../errors.ts';
import { copyTree, removeTree, type TreeRun } from '../../../tools/process/directory-tree.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';
import { worktreeConfig } from '../config.ts';
import type { WorktreeNeeds } from '../needs.ts';
import { installOf, ownScripts } from './installs.ts';
import { filesBeside, type Kept, keepSnapshot } from './share-keep.ts';
import {
  contentOf,
  type KeyInputs,
  type ShareRun,
  type Sharing,
  snapshotKeys,
} from './share-key.ts';
import { wrongShare } from './share-rules.ts';
import { shareObstacle } from './share-upkeep.ts';

/** What to do in place of a setup command, or after it. */
type Shared =
  | {
      does: 'skip';
      told: string;
      /** The command that runs the scripts of the project itself, which the install would have run. */
      scripts: string | undefined;
    }
  /** Run the command; then `keep` makes a snapshot, and returns a sentence about it. */
  | { does: 'run'; told?: string; keep?: () => Promise<string> };

const RUN: Shared = { does: 'run' };

/**
 * Looks whether the directories of `share` that a setup command installs can be copied from a snapshot, and copies them.
 * Never rejects: if anything fails, the command runs.
 */
export const shareInstead = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  command: string,
  run: ShareRun,
): Promise<Shared> => {
  const { share } = worktreeConfig(service.store);
  const install = installOf(command, (lockfile) => contentOf(record, lockfile) !== undefined);
  if (install === undefined) return RUN;
  const directories = share.filter((path) => path.split('/').at(-1) === install.directory);
  if (directories.length === 0) return RUN;
  try {
    return await shareInstall(service, record, { install, command, directories, ...run });
  } catch (error) {
    service.log.warn({ err: error, case_id: record.case_id }, 'sharing directories failed');
    return { does: 'run', told: notShared(directories, messageOf(error)) };
  }
};

const shareInstall = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  sharing: Sharing,
): Promise<Shared> => {
  const { directories, install } = sharing;
  const why = whyNot(service, record, directories);
  if (why !== undefined) return { does: 'run', told: notShared(directories, why) };
  const runtime = await sharing.ask(install.runtime);
  if (runtime === undefined)
    return { does: 'run', told: notShared(directories, `\`${install.runtime}\` failed`) };
  const { setup } = worktreeConfig(service.store);
  const { command } = sharing;
  const inputs = { install, command, setup, directories, runtime };
  const keys = await snapshotKeys(service, record, inputs);
  if (keys === undefined) return RUN;
  const found = keys.wanted.flatMap((key) => findSnapshot(service.store.layout, key) ?? []).at(0);
  if (found !== undefined) return useSnapshot(service, record, { sharing, found });
  if (!sharing.isFirst) return RUN;
  const before = await filesBeside(service, record, directories);
  return {
    does: 'run',
    keep: () => keepInstalled(service, record, { sharing, inputs, keys, before }),
  };
};

const whyNot = (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  directories: readonly string[],
): string | undefined => {
  if (record.attached) return 'the worktree is attached';
  const there = directories.find((path) => pathKind(`${record.path}/${path}`) !== 'nothing');
  if (there !== undefined) return `${there} already exists`;
  return shareObstacle(service);
};

const notShared = (directories: readonly string[], why: string): string =>
  `${directories.join(', ')}: not shared, because ${why}.`;

/** The name of a lockfile with the beginning of its hash. */
const lockfileText = (lockfile: string, hash: string): string =>
  `${lockfile} (${hash.slice(0, 6)})`;

const useSnapshot = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { sharing, found }: { sharing: Sharing; found: StoredSnapshot },
): Promise<Shared> => {
  const { command, install } = sharing;
  const { lockfile, lockfile_sha256, directories } = found.snapshot;
  const failure = await copySnapshot(service, record, { found, ...sharing });
  if (failure !== undefined) return { does: 'run', told: notShared(sharing.directories, failure) };
  const from = lockfileText(lockfile, lockfile_sha256);
  const told = `${directories.join(', ')}: copied from the snapshot of ${from}, ${command} not run`;
  const own = install.program === 'npm' && install.runsScripts ? scriptsOf(record) : undefined;
  return { does: 'skip', told, scripts: own };
};

const scriptsOf = (record: WorktreeRecord): string | undefined =>
  ownScripts(contentOf(record, 'package.json')?.toString('utf8') ?? '');

interface Installed extends Omit<Kept, 'allowsMore'> {
  inputs: KeyInputs;
}

const keepInstalled = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { sharing, inputs, keys, before }: Installed,
): Promise<string> => {
  const { directories, install } = sharing;
  try {
    const after = await snapshotKeys(service, record, inputs);
    if (after?.own !== keys.own) throw new Error(`the command changed ${install.lockfile}`);
    const allowsMore = install.program === 'npm' && scriptsOf(record) !== undefined;
    const kept = await keepSnapshot(service, record, { sharing, keys, before, allowsMore });
    const of = lockfileText(install.lockfile, keys.lockfile_sha256);
    return `${kept.join(', ')}: kept as the snapshot of ${of} for later worktrees.`;
  } catch (error) {
    return notShared(directories, messageOf(error));
  }
};

/** Throws if a directory of `share` cannot be shared. */
export const requireShareable = (share: readonly string[]): void => {
  for (const path of share) {
    const wrong = wrongShare(path);
    if (wrong !== undefined)
      throw invalidState(`${path}, in worktrees.share of workspace.md, ${wrong}.`);
  }
};

interface CopyRun {
  found: StoredSnapshot;
  marker: string;
  signal: AbortSignal;
}

/**
 * Copies the directories of a snapshot into a worktree that has none of them. They are copied beside the worktree and then
 * renamed, so that none is ever incomplete. Returns what went wrong; then the worktree is as before.
 */
const copySnapshot = async (
  { store, config }: WithConfig & WithStore,
  worktree: WorktreeRecord,
  { found: { key, snapshot }, marker, signal }: CopyRun,
): Promise<string | undefined> => {
  const run = { env: cleanEnvironment(config.env), marker, signal };
  const made: { from: string; to: string }[] = [];
  const failed = async (why: string): Promise<string> => {
    for (const { from } of made) await removeTree(from, { env: run.env });
    return why;
  };
  for (const [at, path] of snapshot.directories.entries()) {
    const to = join(worktree.path, path);
    if (!isPlainDirectory(worktree.path, dirname(to)))
      return failed(`${dirname(path)} is no directory`);
    const from = besideOf(worktree.path);
    made.push({ from, to });
    const failure = await copyTree(sharedDirectory(store.layout, key, at), from, run);
    if (failure !== undefined) return failed(`the snapshot could not be copied: ${failure}`);
  }
  const taken = made.find(({ to }) => pathKind(to) !== 'nothing');
  if (taken !== undefined) return failed(`${taken.to} already exists`);
  for (const { from, to } of made) renameSync(from, to);
  touchSnapshot(store.layout, key, store.clock());
  return undefined;
};

// On the file system of the worktree, and outside it, where git would list it.
const besideOf = (path: string): string => join(dirname(path), `${prefixOf(path)}${randomUUID()}`);

const prefixOf = (path: string): string => `.${basename(path)}.copying-`;

/** Deletes copies for a worktree that a former daemon did not finish. */
export const removePartialCopies = async (path: string, run: TreeRun): Promise<void> => {
  const names = orElse(() => readdirSync(dirname(path)), []);
  for (const name of names)
    if (name.startsWith(prefixOf(path))) await removeTree(join(dirname(path), name), run);
};
