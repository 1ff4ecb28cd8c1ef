import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { pathText } from '../run/path-text.ts';
import { stagedIndex } from './index-stages.ts';
import { status } from './status.ts';

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
 * The submodules of a checkout, nested ones included, that contain work. Reads each as a repository of its own, with the
 * hardening that keeps programs of its configuration from running. Changes nothing.
 */
export const findSubmoduleWork = async (
  git: GitAt,
  base_commit: string,
): Promise<SubmoduleWork[]> => {
  const { path: root } = git.place;
  const isThere = root !== undefined && existsSync(root);
  const checkedOut = isThere ? await findCheckedOut(git.at({ ...git.place, path: root })) : [];
  const found: SubmoduleWork[] = [];
  for (const { path, place } of checkedOut) {
    const name = `${base_commit}:${path}`;
    const known = await git.find(['rev-parse', '--verify', '--quiet', '--end-of-options', name]);
    found.push(...(await workIn(git.at(place), path, known)));
  }
  const seen = new Set(checkedOut.map(({ place }) => place.git_dir));
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

/** Whether there may be submodules. Misses one that `.gitmodules` does not list. */
export const mayHaveSubmodules = ({ path, git_dir }: GitWorktree): boolean =>
  existsSync(join(path, '.gitmodules')) || existsSync(join(git_dir, 'modules'));

const findCheckedOut = async (
  git: GitAt<GitWorktree>,
): Promise<{ path: string; place: GitWorktree }[]> => {
  const { said } = await stagedIndex(git);
  const lines = said.stages.toString('latin1').split('\0');
  const paths = lines.flatMap((line) => /^\S 160000 \w+ \d\t(.*)$/s.exec(line)?.[1] ?? []);
  return [...new Set(paths)].flatMap((name) => {
    const path = pathText(name);
    // A path that is not UTF-8 cannot be opened: the submodule is reported as unreadable.
    const root = join(git.place.path, path);
    const git_dir = isUtf8(Buffer.from(name, 'latin1')) ? repositoryAt(root) : root;
    if (git_dir === undefined) return [];
    return [{ path, place: { path: root, git_dir, common_dir: git_dir } }];
  });
};

// The git directory that `.git` points to. An agent can write it, so the repository is only read.
const repositoryAt = (root: string): string | undefined => {
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
    const files = place.path === place.git_dir ? [] : (await status(git)).files;
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
