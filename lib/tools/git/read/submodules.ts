import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { pathText } from '../run/path-text.ts';
import { stagedIndex } from './index-stages.ts';
import { status } from './status.ts';

/** What a submodule holds that nothing of its worktree's repository can keep. */
export interface SubmoduleWork {
  /** From the worktree; of one that is no longer checked out, its name. */
  path: string;
  /** How many files of it are not committed. */
  files: number;
  /** How many commits of it no remote branch has, nor the base of the worktree; 1000 at most. */
  commits: number;
  /** False where git cannot read it: then nobody knows. */
  readable: boolean;
}

/**
 * The submodules of a checkout, and those within them, that hold work. git itself looks into none of them: each is looked
 * into here as a repository of its own, with all that it takes to run nothing which its settings name. Changes nothing.
 */
export const submoduleWork = async (git: GitAt, base_commit: string): Promise<SubmoduleWork[]> => {
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
    // Its settings name the directory that is gone: git would not start without another.
    const place = { git_dir, common_dir: git_dir, path: git_dir };
    found.push(...(await workIn(git.at(place), path)));
  }
  return found.filter(({ files, commits, readable }) => files + commits > 0 || !readable);
};

/** Whether a look into submodules is worth its while. It misses one that `.gitmodules` does not name. */
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
    // Of a name that is no text nobody can say where it is: it cannot be read, and so it is told.
    const root = join(git.place.path, path);
    const git_dir = isUtf8(Buffer.from(name, 'latin1')) ? repositoryAt(root) : root;
    if (git_dir === undefined) return [];
    return [{ path, place: { path: root, git_dir, common_dir: git_dir } }];
  });
};

// Where its `.git` leads, as git follows it; an agent may have written anything there, and it is only read.
const repositoryAt = (root: string): string | undefined => {
  const link = join(root, '.git');
  const found = statSync(link, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const target = found.isFile() ? /^gitdir: (.*)/.exec(readFileSync(link, 'utf8'))?.[1] : '.git';
  const git_dir = resolve(root, target ?? '.git');
  return existsSync(git_dir) ? realpathSync(git_dir) : git_dir;
};

// `known`: the commit that the base of the worktree names. Whoever has that base can have it, too.
const workIn = async (
  git: GitAt<GitWorktree>,
  path: string,
  known?: string,
): Promise<SubmoduleWork[]> => {
  try {
    const { place } = git;
    const commits = await commitsOnlyIn(git, known);
    const files = place.path === place.git_dir ? [] : (await status(git)).files;
    const deeper = await submoduleWork(git, known ?? 'HEAD');
    return [
      { path, files: files.length, commits, readable: true },
      ...deeper.map((work) => ({ ...work, path: `${path}/${work.path}` })),
    ];
  } catch {
    // Whatever is wrong with it: what cannot be read is not taken for nothing.
    return [{ path, files: 0, commits: 0, readable: false }];
  }
};

// Its branches, where it stands, and its newest stash.
const commitsOnlyIn = async (git: GitAt, known?: string): Promise<number> => {
  const without = known === undefined ? [] : [known];
  const tips = ['HEAD', 'refs/stash', '--branches', '--not', '--remotes', ...without];
  const args = ['rev-list', '--count', '--max-count=1000', '--ignore-missing', ...tips, '--'];
  return Number(await git.text(args));
};

// A submodule's name may hold slashes.
const repositoriesBelow = (directory: string): string[] => {
  if (!existsSync(directory)) return [];
  if (existsSync(join(directory, 'HEAD')) && existsSync(join(directory, 'objects')))
    return [realpathSync(directory)];
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? repositoriesBelow(join(directory, entry.name)) : [],
  );
};
