import { chmodSync, lstatSync, readlinkSync, realpathSync, rmdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isDone, orElse } from '../../../store/base/attempt.ts';
import { unlinkIfThere } from '../../../store/fs/remove.ts';
import type { RecordedRepositories } from '../../../store/records/turn.ts';
import { noteIgnoreRules } from '../../tools/git/read/ignore-rules.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { onDisk } from '../../tools/git/run/index-copy.ts';
import { pathText, utf8Path } from '../../tools/git/run/path-text.ts';
import { entriesOf, isThere, plainText } from '../../tools/git/run/plain-file.ts';
import { findNestedRepositories } from './nested-repositories.ts';
import { quarantineGitDirectory, readProgramSettings, sanitizeGitDirectory } from './sanitize.ts';
import { clearSetIdsBelow } from './setuid.ts';
import type { WalkBounds } from './walk.ts';

/** Records the repositories inside the worktree, outside paths that the base ignores, with their settings and hooks. */
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

// A path that is not UTF-8 cannot be recorded: its repository counts as new at the end of the turn.
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

// Whether it existed before and is of the same kind: a directory (sanitized separately), or a pointer to the same target.
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

// A submodule's name may contain slashes, and submodules can be nested.
const gitDirsBelow = (root: string): string[] =>
  entriesOf(root).flatMap(({ name, kind }) => {
    if (kind !== 'directory') return [];
    const dir = join(root, name);
    const isGit = entriesOf(dir).some((entry) => entry.name === 'HEAD');
    return isGit ? [dir, ...gitDirsBelow(join(dir, 'modules'))] : gitDirsBelow(dir);
  });

export interface SanitizeResult {
  /** New repositories, whose git directories were moved away. */
  taken: { path: string; to: string }[];
  /** Repositories whose new settings or hooks were removed. */
  mended: string[];
  /** Pipes and devices that were deleted because git would block on them. */
  removed: string[];
  /** Directories that were not read, in git's quoted form. */
  unseen: string[];
}

interface SanitizeInput {
  before: RecordedRepositories;
  /** New gitlinks: repositories that were staged or committed in the turn. */
  links: readonly string[];
  /** The directory that receives what is removed; created on demand. */
  aside: string;
  most?: WalkBounds;
}

/**
 * Moves the git directory out of each repository that the turn added to the worktree or that `links` names, because the
 * operator's git would run programs named in its settings. Known repositories are sanitized. All removed files are kept.
 */
export const sanitizeNestedRepositories = async (
  git: GitAt<GitWorktree>,
  { before, links, aside, most }: SanitizeInput,
): Promise<SanitizeResult> => {
  const { rules } = before;
  const looking = { rules, open_up: true, most };
  const { paths, bare, blocking, unseen } = await findNestedRepositories(git, looking);
  for (const path of blocking) unlinkIfThere(onDisk(git.place, path));
  const isOwn = (path: string): boolean =>
    isKnown(git.place, before, path) || isSubmodule(git.place, path);
  const added = paths.filter((path) => !asText(path).some(isOwn));
  const known = before.bare ?? {};
  const addedBare = bare.filter((path) => !asText(path).some((text) => text in known));
  const all = new Set([...added, ...addedBare, ...links]);
  const taken: SanitizeResult['taken'] = [];
  const failed: unknown[] = [];
  // If one cannot be moved, the others still are; the error is thrown at the end.
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
  // The target may be readable by users who could not enter the worktree.
  if (taken.length + mended.length > 0) await restrictAccess(aside);
  if (failed.length > 0) throw failed[0];
  return { taken, mended, removed: blocking.map(pathText), unseen: unseen.map(nameOf) };
};

const nameOf = (path: string): string => (path === '' ? '.' : pathText(path));

// If the directory is too large to check, only its owner may enter.
const restrictAccess = async (aside: string): Promise<void> => {
  const { unseen } = await clearSetIdsBelow(aside);
  if (unseen.length > 0) chmodSync(aside, 0o700);
};

const mendAll = async (
  git: GitAt<GitWorktree>,
  { before, aside }: Pick<SanitizeInput, 'before' | 'aside'>,
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
  for (const directory of [...inner, ...bare, ...modules])
    if (await sanitizeGitDirectory(git, { ...directory, aside })) mended.push(directory.name);
  return mended;
};

// A submodule that git checked out, with its repository below the worktree's `modules`.
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

/** Removes the `modules` directory created for a turn, if it is still empty. */
export const removeEmptyModules = ({ git_dir, common_dir }: GitWorktree): void => {
  // Fails if it is in use, or does not exist.
  if (git_dir !== common_dir) isDone(() => rmdirSync(join(git_dir, 'modules')));
};
