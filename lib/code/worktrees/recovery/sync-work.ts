import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Tree } from '../../../../store/fs/worktree/folder.ts';
import { syncTreePaths, type TreePaths } from '../../../../store/fs/worktree/sync.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import { syncWorktreeName } from '../../../../store/worktrees/worktree-changes.ts';
import type { WithConfig } from '../../../config.ts';
import { filesOf } from '../../../text/patch.ts';
import { headCommit } from '../../../tools/git/read/repository.ts';
import type { GitSource, GitWorktree, WithGit } from '../../../tools/git/run/git.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';
import { syncDisk } from '../../../tools/process/system-programs.ts';
import type { WorktreeDiff } from '../inspect/diff.ts';

/** With more files than this, syncing the whole file system is faster than syncing each. */
const MOST_SINGLE = 200;

/**
 * Syncs the files of a diff to disk, because programs do not sync what they write and a power cut could leave files
 * empty. Ignored files, and files that the diff leaves out, are not synced.
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

/** Syncs a worktree that git has just created: its files, git's record of it, and the branch. */
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

/**
 * Syncs the commits of a branch since its base. git syncs what is in an object, but not its name, so after a power cut a
 * commit could lack a file that is nowhere else.
 */
export const syncCommits = async (
  { store, git }: WithStore & { git: GitSource },
  { git_dir, common_dir, branch, base_commit }: CommittedBranch,
): Promise<void> => {
  const now = git.at({ git_dir, common_dir });
  const head = await headCommit(now);
  if (head === undefined || head === base_commit) return;
  // In a partial clone, what is missing is not fetched.
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=allow-any', head];
  const objects = await now.lines([...args, '--not', ...(base_commit ? [base_commit] : []), '--']);
  const there = [
    // For objects that came in a pack.
    PACKS,
    ...objects.map((id) => `objects/${id.slice(0, 2)}/${id.slice(2)}`),
    `refs/heads/${branch}`,
    join(relative(common_dir, git_dir), 'index'),
  ];
  const tree: Tree = { layout: store.layout, root: common_dir, git_dir, closed: [] };
  await syncTreePaths(tree, { there, gone: [] });
};

interface CommittedBranch extends Pick<WorktreeRecord, 'git_dir' | 'common_dir' | 'branch'> {
  /** Undefined for all commits. */
  base_commit: string | undefined;
}

/** Syncs the repository of a worktree that is about to be removed: from then on, its work is only there. */
export const syncRepository = async (
  service: WithConfig & WithGit & WithStore,
  worktree: WorktreeRecord,
): Promise<void> => {
  const env = cleanEnvironment(service.config.env);
  if (!(await syncDisk(worktree.common_dir, env))) await syncCommits(service, worktree);
};

/** Syncs the file systems of the worktree and its repository. False if no program on this system can do that. */
export const syncAll = async (
  { config }: WithConfig,
  { path, common_dir }: GitWorktree,
): Promise<boolean> => {
  const env = cleanEnvironment(config.env);
  const places = new Map([path, common_dir].map((each) => [statSync(each).dev, each]));
  const done = await Promise.all([...places.values()].map((each) => syncDisk(each, env)));
  return done.every(Boolean);
};

const GIT = '.git';

const PACKS = 'objects/pack/';

// Files that git writes without a sync when it creates a worktree.
const POINTERS = ['HEAD', 'commondir', 'gitdir'];

const pathsOf = (patch: Buffer, isClone: boolean): TreePaths => {
  const files = filesOf(patch.toString('utf8'));
  const isGone = ({ kind }: (typeof files)[number]): boolean => kind === 'deleted';
  return {
    // The `.git` file of a linked worktree.
    there: [
      ...(isClone ? [] : [GIT]),
      ...files.filter((file) => !isGone(file)).map(({ path }) => path),
    ],
    gone: files.flatMap((file) => (isGone(file) ? file.path : (file.from ?? []))),
  };
};
