import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import { isPlainDirectory } from '../../../../store/fs/plain-path.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import {
  type StoredSnapshot,
  sharedDirectory,
  touchSnapshot,
} from '../../../../store/worktrees/shared-snapshots.ts';
import { pathKind } from '../../../../store/worktrees/worktrees.ts';
import type { WithConfig } from '../../../config.ts';
import { copyTree, removeTree, type TreeRun } from '../../../tools/process/directory-tree.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';

interface CopyRun {
  found: StoredSnapshot;
  marker: string;
  signal: AbortSignal;
}

/**
 * Copies the directories of a snapshot into a worktree that has none of them. They are copied beside the worktree and then
 * renamed, so that none is ever incomplete. Returns what went wrong; then the worktree is as before.
 */
export const copySnapshot = async (
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
  if (taken !== undefined) return failed(`${taken.to} exists already`);
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
