import { chmodSync, lstatSync, readlinkSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { orElse } from '../../../store/base/or-else.ts';
import { type IgnoreRules, noteIgnoreRules } from '../../tools/git/read/ignore-rules.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { onDisk } from '../../tools/git/run/index-file.ts';
import { pathText, utf8Path } from '../../tools/git/run/path-text.ts';
import { entriesOf, plainText } from '../../tools/git/run/plain-file.ts';
import { findNestedRepositories } from './nested-repositories.ts';
import {
  mend,
  type ProgramSettings,
  quarantineGitDirectory,
  readProgramSettings,
} from './sanitize.ts';
import { clearSetIdsBelow } from './setuid.ts';
import type { WalkBounds } from './walk.ts';

/** What is known of the repositories inside a worktree before a turn. Plain data. */
export interface RecordedRepositories {
  /** What of the worktree is left alone; without them nothing is. */
  rules?: IgnoreRules;
  /** Each by its path; null where its `.git` is no directory. */
  repositories: Record<string, ProgramSettings | null>;
  /** Where a `.git` that is no directory leads. */
  pointers?: Record<string, string>;
  /** Git directories that are nobody's `.git`. */
  bare?: Record<string, ProgramSettings>;
  /** The submodules that git keeps for this worktree alone, by their names. */
  modules: Record<string, ProgramSettings>;
}

/** Notes which repositories are inside the worktree, where the base ignores nothing, and what they could have git run. */
export const guard = async (
  git: GitAt<GitWorktree>,
  base_commit: string,
): Promise<RecordedRepositories> => {
  const rules = await noteIgnoreRules(git, base_commit);
  const found = await findNestedRepositories(git, { rules, open_up: false });
  const [paths, bare] = [found.paths.flatMap(asText), found.bare.flatMap(asText)];
  const dirs = paths.map((path) => [path, gitDirAt(git.place, path)] as const);
  const pointers = paths.flatMap((path) => {
    const pointer = pointerAt(git.place, path);
    return pointer === undefined ? [] : [[path, pointer] as const];
  });
  return {
    rules,
    pointers: Object.fromEntries(pointers),
    bare: Object.fromEntries(
      bare.map((path) => [path, readProgramSettings(join(git.place.path, path))]),
    ),
    repositories: Object.fromEntries(
      dirs.map(([path, dir]) => [path, dir === undefined ? null : readProgramSettings(dir)]),
    ),
    modules: Object.fromEntries(
      modulesOf(git.place).map(([name, dir]) => [name, readProgramSettings(dir)]),
    ),
  };
};

// One at a name that is not UTF-8 is nobody's own: it is taken where a turn ends.
const asText = (path: string): string[] => {
  const text = utf8Path(path);
  return text === undefined ? [] : [text];
};

const gitDirAt = ({ path: root }: GitWorktree, path: string): string | undefined => {
  const dir = join(root, path, '.git');
  return lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? dir : undefined;
};

const pointerAt = ({ path: root }: GitWorktree, path: string): string | undefined => {
  const at = join(root, path, '.git');
  const found = lstatSync(at, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return undefined;
  return found.isSymbolicLink() ? `-> ${readlinkSync(at)}` : (plainText(at, 65_536) ?? '');
};

// It was there, and is of the same kind: a directory, whose settings are mended, or what leads where it led.
const isKnown = (worktree: GitWorktree, before: RecordedRepositories, path: string): boolean => {
  const arms = before.repositories[path];
  if (arms === undefined) return false;
  if (arms !== null) return gitDirAt(worktree, path) !== undefined;
  const pointer = pointerAt(worktree, path);
  return pointer !== undefined && pointer === before.pointers?.[path];
};

const modulesOf = ({ git_dir, common_dir }: GitWorktree): [name: string, dir: string][] => {
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

export interface SanitizeResult {
  /** Repositories that were not there before, and are none now. */
  taken: { path: string; to: string }[];
  /** Those that git was to run something in. */
  mended: string[];
  /** Pipes and the like that git would have waited for: they are gone. */
  removed: string[];
  /** Directories that were not looked into, as git writes them for people. */
  unseen: string[];
}

interface Watch {
  before: RecordedRepositories;
  /** Repositories that the base does not know, which were staged or committed. */
  links: readonly string[];
  /** Where what is taken goes: a directory that is made when it is needed. */
  aside: string;
  most?: WalkBounds;
}

/**
 * Takes the git directory out of each repository that was put into the worktree since, and out of those that `links`
 * names: the operator's git runs what the settings of such a one name. Others are mended. Nothing is lost.
 */
export const sanitizeNestedRepositories = async (
  git: GitAt<GitWorktree>,
  { before, links, aside, most }: Watch,
): Promise<SanitizeResult> => {
  const { rules } = before;
  const looking = { rules, open_up: true, most };
  const { paths, bare, blocking, unseen } = await findNestedRepositories(git, looking);
  for (const path of blocking) rmSync(onDisk(git.place, path), { force: true });
  const isOwn = (path: string): boolean =>
    isKnown(git.place, before, path) || isSubmodule(git.place, path);
  const added = paths.filter((path) => !asText(path).some(isOwn));
  const known = before.bare ?? {};
  const addedBare = bare.filter((path) => !asText(path).some((text) => text in known));
  const all = new Set([...added, ...addedBare, ...links]);
  const taken: SanitizeResult['taken'] = [];
  const failed: unknown[] = [];
  // One that cannot be taken leaves no other as it is.
  for (const path of all)
    try {
      const to = await quarantineGitDirectory(git.place, path, {
        aside,
        isBare: bare.includes(path),
      });
      if (to !== undefined) taken.push({ path: pathText(path), to });
    } catch (error) {
      failed.push(error);
    }
  const mended = await mendAll(git, { before, aside });
  // Others may enter there who could not enter the git.place.
  if (taken.length + mended.length > 0) await shut(aside);
  if (failed.length > 0) throw failed[0];
  return { taken, mended, removed: blocking.map(pathText), unseen: unseen.map(nameOf) };
};

const nameOf = (path: string): string => (path === '' ? '.' : pathText(path));

// What is too much to be looked at is for nobody else.
const shut = async (aside: string): Promise<void> => {
  const { unseen } = await clearSetIdsBelow(aside);
  if (unseen.length > 0) chmodSync(aside, 0o700);
};

const mendAll = async (
  git: GitAt<GitWorktree>,
  { before, aside }: Pick<Watch, 'before' | 'aside'>,
): Promise<string[]> => {
  const inner = Object.keys(before.repositories).flatMap((name) => {
    const dir = gitDirAt(git.place, name);
    return dir === undefined ? [] : [{ name, dir, before: before.repositories[name] ?? undefined }];
  });
  const bare = Object.entries(before.bare ?? {}).flatMap(([name, arms]) => {
    const dir = join(git.place.path, name);
    return isThere(join(dir, 'HEAD')) ? [{ name, dir, before: arms }] : [];
  });
  const modules = modulesOf(git.place).map(([name, dir]) => ({
    name,
    dir,
    before: before.modules[name],
  }));
  const mended: string[] = [];
  for (const suspect of [...inner, ...bare, ...modules])
    if (await mend(git, { ...suspect, aside })) mended.push(suspect.name);
  return mended;
};

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

// One that git itself has checked out, and keeps where it keeps such.
const isSubmodule = (worktree: GitWorktree, path: string): boolean => {
  const link = plainText(join(worktree.path, path, '.git'), 65_536) ?? '';
  const target = /^gitdir: (.*)\n?$/.exec(link)?.[1];
  if (target === undefined) return false;
  const named = Buffer.from(target, 'latin1').toString('utf8');
  return orElse(() => {
    const place = realpathSync(resolve(worktree.path, path, named));
    return modulesOf(worktree).some(([, dir]) => realpathSync(dir) === place);
  }, false);
};

/** Takes away the place for submodules that a turn was given, where it has put none there. */
export const removeEmptyModules = ({ git_dir, common_dir }: GitWorktree): void => {
  if (git_dir === common_dir) return;
  try {
    rmdirSync(join(git_dir, 'modules'));
  } catch {
    // Something is in it, or nobody made it.
  }
};
