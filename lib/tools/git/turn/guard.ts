import { lstatSync, mkdirSync, realpathSync, renameSync, rmdirSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Runner, Worktree } from '../git.ts';
import { type Arms, armsOf, freeName, mend } from './armed.ts';
import { innerRepositories } from './inner.ts';
import { entriesOf, plainText } from './plain-file.ts';

/** What is known of the repositories inside a worktree before a turn. Plain data. */
export interface Guarded {
  ignores: string;
  /** Each by its path; null where its `.git` is no directory. */
  repositories: Record<string, Arms | null>;
  /** The submodules that git keeps for this worktree alone, by their names. */
  modules: Record<string, Arms>;
}

/** Notes which repositories are inside the worktree, and what they could have git run. */
export const guard = async (git: Runner, worktree: Worktree): Promise<Guarded> => {
  const { paths, ignores } = await innerRepositories(git, worktree);
  const dirs = paths.map((path) => [path, gitDirAt(worktree, path)] as const);
  return {
    ignores,
    repositories: Object.fromEntries(
      dirs.map(([path, dir]) => [path, dir === undefined ? null : armsOf(dir)]),
    ),
    modules: Object.fromEntries(modulesOf(worktree).map(([name, dir]) => [name, armsOf(dir)])),
  };
};

const gitDirAt = ({ path: root }: Worktree, path: string): string | undefined => {
  const dir = join(root, path, '.git');
  return lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? dir : undefined;
};

const modulesOf = ({ git_dir, common_dir }: Worktree): [name: string, dir: string][] => {
  const root = join(git_dir, 'modules');
  return git_dir === common_dir ? [] : gitDirsBelow(root).map((dir) => [relative(root, dir), dir]);
};

// A submodule's name may hold slashes, and it may have submodules of its own.
const gitDirsBelow = (root: string): string[] =>
  entriesOf(root).flatMap(({ name, kind }) => {
    if (kind !== 'directory') return [];
    const dir = join(root, name);
    const isGit = entriesOf(dir).some((entry) => entry.name === 'HEAD');
    return isGit ? [dir, ...gitDirsBelow(join(dir, 'modules'))] : gitDirsBelow(dir);
  });

export interface Disarmed {
  /** Repositories that were not there before, and are none now. */
  taken: { path: string; to: string }[];
  /** Those that git was to run something in. */
  mended: string[];
}

interface Watch {
  before: Guarded;
  /** Repositories that the base does not know, which were staged or committed. */
  links: readonly string[];
  /** Where what is taken goes: a directory that is made when it is needed. */
  aside: string;
}

/**
 * Takes the git directory out of each repository that was put into the worktree since, and out of those that `links`
 * names: the operator's git runs what the settings of such a one name. Others are mended. Nothing is lost.
 */
export const disarm = async (
  git: Runner,
  worktree: Worktree,
  { before, links, aside }: Watch,
): Promise<Disarmed> => {
  const { paths } = await innerRepositories(git, worktree, before.ignores);
  const added = paths.filter(
    (path) => !(path in before.repositories) && !isSubmodule(worktree, path),
  );
  const linked = links.filter((path) => liesInside(worktree.path, path));
  const taken: Disarmed['taken'] = [];
  for (const path of new Set([...added, ...linked]))
    taken.push({ path, to: await takeAside(worktree, path, aside) });
  return { taken, mended: await mendAll(git, worktree, { before, aside }) };
};

const mendAll = async (
  git: Runner,
  worktree: Worktree,
  { before, aside }: Pick<Watch, 'before' | 'aside'>,
): Promise<string[]> => {
  const inner = Object.keys(before.repositories).flatMap((name) => {
    const dir = gitDirAt(worktree, name);
    return dir === undefined ? [] : [{ name, dir, before: before.repositories[name] ?? undefined }];
  });
  const modules = modulesOf(worktree).map(([name, dir]) => ({
    name,
    dir,
    before: before.modules[name],
  }));
  const mended: string[] = [];
  for (const suspect of [...inner, ...modules])
    if (await mend(git, worktree, { ...suspect, aside })) mended.push(suspect.name);
  return mended;
};

// The names are an agent's, and so are links on the way.
const liesInside = (root: string, path: string): boolean => {
  try {
    const place = realpathSync(join(root, path));
    return place.startsWith(`${realpathSync(root)}/`) && isThere(join(place, '.git'));
  } catch {
    return false;
  }
};

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

// One that git itself has checked out, and keeps where it keeps such.
const isSubmodule = (worktree: Worktree, path: string): boolean => {
  const link = plainText(join(worktree.path, path, '.git'), 65_536) ?? '';
  const target = /^gitdir: (.*)\n?$/.exec(link)?.[1];
  if (target === undefined) return false;
  try {
    const named = Buffer.from(target, 'latin1').toString('utf8');
    const place = realpathSync(resolve(worktree.path, path, named));
    return modulesOf(worktree).some(([, dir]) => realpathSync(dir) === place);
  } catch {
    return false;
  }
};

const takeAside = async (
  { path: root }: Worktree,
  path: string,
  aside: string,
): Promise<string> => {
  mkdirSync(aside, { recursive: true });
  const to = freeName(join(aside, `${path.replaceAll('/', '-')}.git-directory`));
  await move(join(root, path, '.git'), to);
  // Where it is now git must find none either.
  if (lstatSync(to).isDirectory())
    for (const name of ['HEAD', 'config', 'hooks', 'commondir', 'config.worktree'])
      if (isThere(join(to, name))) renameSync(join(to, name), join(to, `${name}.disarmed`));
  return to;
};

const move = async (from: string, to: string): Promise<void> => {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
    await rm(from, { recursive: true, force: true });
  }
};

/** Takes away the place for submodules that a turn was given, where it has put none there. */
export const dropEmptyModules = ({ git_dir, common_dir }: Worktree): void => {
  if (git_dir === common_dir) return;
  try {
    rmdirSync(join(git_dir, 'modules'));
  } catch {
    // Something is in it, or nobody made it.
  }
};
