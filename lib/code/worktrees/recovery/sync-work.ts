import { join, relative } from 'node:path';
import type { Tree } from '../../../../store/fs/worktree/folder.ts';
import { syncTreePaths, type TreePaths } from '../../../../store/fs/worktree/sync.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import { syncWorktreeName } from '../../../../store/worktrees/worktree-changes.ts';
import type { WithConfig } from '../../../config.ts';
import { filesOf } from '../../../text/patch.ts';
import type { GitWorktree, WithGit } from '../../../tools/git/run/git.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';
import { syncDisk } from '../../../tools/process/system-programs.ts';
import type { WorktreeDiff } from '../inspect/diff.ts';

/** Of more files, the whole file system is synced at once: that takes less time than one by one. */
const MOST_SINGLE = 200;

/**
 * Resolves when what a diff says of a worktree is on disk: programs write files and do not sync them, and a power cut
 * would leave some of them empty. Ignored files, and what the diff leaves out, are not synced.
 */
export const syncWork = async (
  { store, config }: WithConfig & WithStore,
  worktree: WorktreeRecord,
  { patch, changed }: Pick<WorktreeDiff, 'patch' | 'changed'>,
): Promise<void> => {
  const { path: root, git_dir } = worktree;
  const tree: Tree = { layout: store.layout, root, git_dir, closed: [] };
  await syncTreePaths({ ...tree, root: git_dir }, { there: POINTERS, gone: [] });
  const syncSingly = () => syncTreePaths(tree, pathsOf(patch, git_dir === join(root, GIT)));
  if (changed.length <= MOST_SINGLE && (await syncSingly())) return;
  if (await syncDisk(root, cleanEnvironment(config.env))) return;
  await syncSingly();
};

/** The same of a worktree that git has just made: what it checked out, its own record of it, and the branch. */
export const syncWorktree = async (
  service: WithConfig & WithGit & WithStore,
  worktree: GitWorktree,
  branch: string,
): Promise<void> => {
  const { store, git } = service;
  const { path: root, git_dir, common_dir } = worktree;
  const files = await git.at(worktree).names(['ls-files', '-z']);
  if (files.length > MOST_SINGLE && (await syncAll(service, worktree))) return;
  const tree: Tree = { layout: store.layout, root, git_dir, closed: [] };
  const own = relative(common_dir, git_dir);
  const there = [
    ...[...POINTERS, 'locked', 'index', 'logs/HEAD'].map((name) => join(own, name)),
    ...['', 'logs/'].map((above) => `${above}refs/heads/${branch}`),
  ];
  await syncTreePaths(tree, { there: [GIT, ...files.map(pathText)], gone: [] });
  await syncTreePaths({ ...tree, root: common_dir }, { there, gone: [] });
  await syncWorktreeName(root);
};

/** The same of all that is on its disks, at once. False where no program here does that. */
export const syncAll = async (
  { config }: WithConfig,
  { path, common_dir }: GitWorktree,
): Promise<boolean> => {
  const env = cleanEnvironment(config.env);
  const done = await Promise.all([path, common_dir].map((each) => syncDisk(each, env)));
  return done.every(Boolean);
};

const GIT = '.git';

// What git writes without a sync as it makes a worktree.
const POINTERS = ['HEAD', 'commondir', 'gitdir'];

const pathsOf = (patch: Buffer, isClone: boolean): TreePaths => {
  const files = filesOf(patch.toString('utf8'));
  const isGone = ({ kind }: (typeof files)[number]): boolean => kind === 'deleted';
  return {
    // The `.git` file of a worktree says where its repository is.
    there: [
      ...(isClone ? [] : [GIT]),
      ...files.filter((file) => !isGone(file)).map(({ path }) => path),
    ],
    gone: files.flatMap((file) => (isGone(file) ? file.path : (file.from ?? []))),
  };
};
