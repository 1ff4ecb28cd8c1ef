import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { pathText } from '../run/path-text.ts';
import { mayHaveGitlinks, stagedIndex } from './index-stages.ts';
import { wholeStatus } from './status.ts';

/** Work in a submodule, which the repository of the worktree cannot preserve. */
export interface SubmoduleWork {
  /** Relative to the worktree; the name of a submodule that is no longer checked out. */
  path: string;
  /** The number of uncommitted files. */
  files: number;
  /** The number of commits, up to 1000, that are on no remote branch and not in the base of the worktree. */
  commits: number;
  /** False if git cannot read the submodule, so that it may contain work. */
  readable: boolean;
}

/**
 * The submodules of a checkout, nested ones included, that contain work; also directories of submodules that are not checked
 * out and have files. Reads each as a repository of its own, with the hardening that keeps programs of its configuration from
 * running. Changes nothing.
 */
export const findSubmoduleWork = async (
  git: GitAt,
  base_commit: string,
): Promise<SubmoduleWork[]> => {
  const { path: root } = git.place;
  const isThere = root !== undefined && existsSync(root);
  const inside = isThere ? await findSubmodules(git.at({ ...git.place, path: root })) : [];
  const found: SubmoduleWork[] = [];
  for (const { path, place, root } of inside) {
    if (place === undefined) {
      found.push(await filesIn(path, root));
      continue;
    }
    const name = `${base_commit}:${path}`;
    const known = await git.find(['rev-parse', '--verify', '--quiet', '--end-of-options', name]);
    found.push(...(await workIn(git.at(place), path, known)));
  }
  const seen = new Set(inside.map(({ place }) => place?.git_dir));
  const modules = join(git.place.git_dir, 'modules');
  for (const git_dir of repositoriesBelow(modules)) {
    if (seen.has(git_dir)) continue;
    const path = relative(modules, git_dir);
    // Its configuration names a removed working tree: git needs another to start.
    const place = { git_dir, common_dir: git_dir, path: git_dir };
    found.push(...(await workIn(git.at(place), path)));
  }
  return found.filter(({ files, commits, readable }) => files + commits > 0 || !readable);
};

/** The submodules, nested ones included, with uncommitted changes or files, which no diff of the worktree shows. */
export const changedSubmodules = async (git: GitAt<GitWorktree>): Promise<string[]> => {
  const found: string[] = [];
  for (const { path, place, root } of await findSubmodules(git)) {
    const { files, deeper } = await changesIn(git, place, root);
    if (files > 0) found.push(`${path}/`);
    found.push(...deeper.map((name) => `${path}/${name}`));
  }
  return found;
};

const changesIn = async (
  { at }: GitAt,
  place: GitWorktree | undefined,
  root: string,
): Promise<{ files: number; deeper: string[] }> => {
  try {
    if (place === undefined) return { files: (await filesBelow(root)).length, deeper: [] };
    const { files } = await wholeStatus(at(place));
    return { files: files.length, deeper: await changedSubmodules(at(place)) };
  } catch {
    // An unreadable submodule may have changes.
    return { files: 1, deeper: [] };
  }
};

/** Whether there may be submodules; starts no git process. */
export const mayHaveSubmodules = async (worktree: GitWorktree): Promise<boolean> =>
  existsSync(join(worktree.git_dir, 'modules')) || (await mayHaveGitlinks(worktree));

/** A submodule in the index of a worktree. */
export interface Submodule {
  /** Read as latin1. */
  name: string;
  /** The name as text. */
  path: string;
  /** Its commit in the index. */
  commit: string;
  /** Its absolute path. */
  root: string;
  /** Undefined if it is not checked out. */
  place: GitWorktree | undefined;
}

export const findSubmodules = async (git: GitAt<GitWorktree>): Promise<Submodule[]> => {
  if (!(await mayHaveGitlinks(git.place))) return [];
  const { stages } = (await stagedIndex(git)).said;
  const lines = stages.toString('latin1').split('\0');
  const found = lines.flatMap((line): [string, string][] => {
    const [, commit = '', name] = /^\S 160000 (\w+) \d\t(.*)$/s.exec(line) ?? [];
    return name === undefined ? [] : [[name, commit]];
  });
  return [...new Map(found)].flatMap(([name, commit]) => {
    const path = pathText(name);
    const root = join(git.place.path, path);
    // One that cannot be opened, as with a path that is not UTF-8, is reported as unreadable.
    const isText = isUtf8(Buffer.from(name, 'latin1'));
    const git_dir = isText ? orElse(() => repositoryAt(root), root) : root;
    const place = git_dir === undefined ? undefined : { path: root, git_dir, common_dir: git_dir };
    return [{ name, path, commit, root, place }];
  });
};

// The directory of a submodule that is not checked out. git neither lists its files nor keeps them.
const filesIn = async (path: string, root: string): Promise<SubmoduleWork> => {
  try {
    return { path, files: (await filesBelow(root)).length, commits: 0, readable: true };
  } catch {
    return { path, files: 0, commits: 0, readable: false };
  }
};

/** The paths of all files below a directory, relative to it. Empty if it is no directory, whose change git lists. */
export const filesBelow = async (root: string): Promise<string[]> => {
  if (!isDirectory(root)) return [];
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
};

const isDirectory = (path: string): boolean =>
  orElse(() => lstatSync(path).isDirectory(), false, 'ENOENT', 'ENOTDIR');

// The git directory that `.git` points to. An agent can write it, so the repository is only read.
const repositoryAt = (root: string): string | undefined => {
  if (!isDirectory(root)) return undefined;
  const link = join(root, '.git');
  const found = statSync(link, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const target = found.isFile() ? /^gitdir: (.*)/.exec(readFileSync(link, 'utf8'))?.[1] : '.git';
  const git_dir = resolve(root, target ?? '.git');
  return existsSync(git_dir) ? realpathSync(git_dir) : git_dir;
};

// `known`: the commit of the submodule in the base of the worktree, which need not be preserved.
const workIn = async (
  git: GitAt<GitWorktree>,
  path: string,
  known?: string,
): Promise<SubmoduleWork[]> => {
  try {
    const { place } = git;
    const commits = await commitsOnlyIn(git, known);
    const files = place.path === place.git_dir ? [] : (await wholeStatus(git)).files;
    const deeper = await findSubmoduleWork(git, known ?? 'HEAD');
    return [
      { path, files: files.length, commits, readable: true },
      ...deeper.map((work) => ({ ...work, path: `${path}/${work.path}` })),
    ];
  } catch {
    // Report an unreadable submodule, which may contain work.
    return [{ path, files: 0, commits: 0, readable: false }];
  }
};

// Counts from its branches, HEAD and the newest stash.
const commitsOnlyIn = async (git: GitAt, known?: string): Promise<number> => {
  const without = known === undefined ? [] : [known];
  const tips = ['HEAD', 'refs/stash', '--branches', '--not', '--remotes', ...without];
  const args = ['rev-list', '--count', '--max-count=1000', '--ignore-missing', ...tips, '--'];
  return Number(await git.text(args));
};

// A submodule's name may contain slashes.
const repositoriesBelow = (directory: string): string[] => {
  if (!existsSync(directory)) return [];
  if (existsSync(join(directory, 'HEAD')) && existsSync(join(directory, 'objects')))
    return [realpathSync(directory)];
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? repositoriesBelow(join(directory, entry.name)) : [],
  );
};
