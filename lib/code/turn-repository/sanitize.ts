import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { unlinkIfThere } from '../../../store/fs/remove.ts';
import type { ProgramSettings } from '../../../store/records/turn.ts';
import { type ConfigEntry, configText, entriesIn } from '../../tools/git/run/config.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { onDisk } from '../../tools/git/run/index-copy.ts';
import { pathText, utf8Path } from '../../tools/git/run/path-text.ts';
import { entriesOf, isThere, plainText } from '../../tools/git/run/plain-file.ts';
import { grantOwnerAccess } from './nested-repositories.ts';

const MOST_BYTES = 1_048_576;

export const readProgramSettings = (dir: string): ProgramSettings => ({
  config: plainText(join(dir, 'config'), MOST_BYTES) ?? '',
  hooks: hooksIn(dir),
});

const hooksIn = (dir: string): string | null => {
  const names = entriesOf(join(dir, 'hooks')).map(({ name }) => name);
  const hooks = names.filter((name) => !name.endsWith('.sample')).toSorted();
  if (hooks.length === 0) return null;
  const hash = createHash('sha256');
  for (const name of hooks)
    hash.update(`${name}\0${plainText(join(dir, 'hooks', name), MOST_BYTES) ?? ''}\0`);
  return hash.digest('hex');
};

interface GitDirectory {
  dir: string;
  name: string;
  before: ProgramSettings | undefined;
  /** The directory that receives what is removed. */
  aside: string;
}

/**
 * Removes from a git directory what a turn added that makes git run a program or read another directory: new hooks, and
 * settings that are not on the list of safe ones. Returns whether anything was removed.
 */
export const sanitizeGitDirectory = async (
  git: GitAt<GitWorktree>,
  directory: GitDirectory,
): Promise<boolean> => {
  const { dir, before } = directory;
  const now = readProgramSettings(dir);
  const isPlain = plainText(join(dir, 'config'), MOST_BYTES) !== undefined;
  const safe =
    now.config === before?.config ? now.config : await safeSettings(git, directory, now.config);
  const odd = ['commondir', 'config.worktree', 'hooks'].filter((each) => {
    const found = lstatSync(join(dir, each), { throwIfNoEntry: false });
    if (found === undefined) return false;
    return each !== 'hooks' || !found.isDirectory() || now.hooks !== (before?.hooks ?? null);
  });
  for (const each of odd) await takeOut(directory, each);
  // The config is a link, a pipe or too large to read here, but git would still read it.
  if (safe === now.config && isPlain) return odd.length > 0;
  await takeOut(directory, 'config');
  writeFileSync(join(dir, 'config'), safe, { encoding: 'latin1', flag: 'wx' });
  return true;
};

const takeOut = async ({ dir, name, aside }: GitDirectory, part: string): Promise<void> => {
  const from = join(dir, part);
  if (!isThere(from)) return;
  const to = unusedPath(join(aside, `${shortName(name)}.${part}`));
  mkdirSync(dirname(to), { recursive: true });
  grantOwnerAccess(from);
  await move(Buffer.from(from), to);
};

/** The path itself, or with the first free numeric suffix. */
const unusedPath = (path: string, number = 1): string => {
  const name = number === 1 ? path : `${path}-${number}`;
  return isThere(name) ? unusedPath(path, number + 1) : name;
};

// Keeps the settings that were there before, and those that a plain `git clone` writes.
const safeSettings = async (
  git: GitAt<GitWorktree>,
  { dir, before, aside }: GitDirectory,
  text: string,
): Promise<string> => {
  const had = before?.config ?? '';
  const now = await entriesAt(git, { text, aside });
  if (now === undefined) return had;
  const known = new Set((await entriesAt(git, { text: had, aside }))?.map(lineOf));
  const safe = now.filter((entry) => known.has(lineOf(entry)) || isSafe(git.place, dir, entry));
  return safe.length === now.length ? text : configText(safe);
};

const lineOf = ({ key, value }: ConfigEntry): string => `${key}\n${value}`;

const SAFE =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|symlinks|ignorecase|precomposeunicode|sparsecheckout|sparsecheckoutcone)|remote\..*\.(?:url|fetch|tagopt)|branch\..*\.(?:remote|merge|rebase)|submodule\..*\.(?:url|active)|user\.(?:name|email)|extensions\.objectformat)$/s;

// `ext::` URLs run programs, and `core.worktree` can point outside the worktree.
const isSafe = ({ path }: GitWorktree, dir: string, { key, value = '' }: ConfigEntry): boolean => {
  if (key === 'core.worktree') return `${resolve(dir, value)}/`.startsWith(`${path}/`);
  return SAFE.test(key) && !(key.endsWith('.url') && /^ext::|^-/.test(value));
};

const entriesAt = async (
  { at, place: { git_dir, common_dir } }: GitAt<GitWorktree>,
  { text, aside }: { text: string; aside: string },
): Promise<ConfigEntry[] | undefined> => {
  mkdirSync(aside, { recursive: true });
  const copy = unusedPath(join(aside, 'being-read'));
  try {
    writeFileSync(copy, text, { encoding: 'latin1', flag: 'wx' });
    const args = ['config', '--file', copy, '--no-includes', '--list', '-z'];
    const ok = [0, 1, 128];
    const { stdout, code } = await at({ git_dir, common_dir }).run(args, { read: true, ok });
    return code === 0 ? entriesIn(stdout.toString('latin1')) : undefined;
  } finally {
    unlinkIfThere(copy);
  }
};

interface Quarantine {
  /** The target directory; created on demand. */
  aside: string;
  /** Whether the path is the git directory itself. */
  isBare: boolean;
}

/**
 * Moves the git directory at a path (latin1) out of the worktree and returns its new path; undefined if it does not
 * exist or lies outside. The moved directory keeps all its files, but git does not recognize it as a repository.
 */
export const quarantineGitDirectory = async (
  worktree: GitWorktree,
  path: string,
  { aside, isBare }: Quarantine,
): Promise<string | undefined> => {
  const at = onDisk(worktree, path);
  const from = isBare ? at : onDisk(worktree, `${path}/.git`);
  // It may have been moved already under another name.
  if (!(isInsideWorktree(worktree.path, at) && isThere(from))) return undefined;
  mkdirSync(aside, { recursive: true });
  // A rename needs write permission on both the directory and its parent.
  grantOwnerAccess(isBare ? onDisk(worktree, dirname(path)) : at);
  grantOwnerAccess(from);
  const to = await move(from, unusedPath(join(aside, `${nameOf(path)}.git-directory`)));
  // git must not find a repository in the new place either.
  if (lstatSync(to).isDirectory()) putOut(to, ['.git', 'HEAD', ...PROGRAMS, ...ELSEWHERE]);
  return pathText(to.toString('latin1'));
};

const PROGRAMS = ['config', 'hooks'];
const ELSEWHERE = ['commondir', 'config.worktree'];

/**
 * Renames the files in a finished turn's repository that redirect git to other settings, and with `mayHaveWritten` also
 * the settings and hooks themselves, so that git ignores them.
 */
export const disableGitSettings = (dir: string, mayHaveWritten: boolean): void =>
  putOut(Buffer.from(dir), mayHaveWritten ? [...PROGRAMS, ...ELSEWHERE] : ELSEWHERE);

const putOut = (dir: Buffer, names: readonly string[]): void => {
  for (const name of names.filter((one) => isThere(plus(dir, `/${one}`))))
    renameSync(plus(dir, `/${name}`), unusedSibling(plus(dir, `/${name}`)));
};

// An agent chose these names, and may have put links among the parents.
const isInsideWorktree = (root: string, path: Buffer): boolean =>
  orElse(() => {
    const [inner, outer] = [path, root].map((one) => realpathSync.native(one, 'latin1'));
    return inner?.startsWith(`${outer}/`) === true;
  }, false);

const plus = (path: Buffer, end: string): Buffer => Buffer.concat([path, Buffer.from(end)]);

const nameOf = (path: string): string => shortName(pathText(path));

const shortName = (path: string): string => {
  const name = path.replaceAll('/', '-');
  return Buffer.byteLength(name) <= 200 ? name : `${name.slice(0, 40)}-${sha256(path).slice(0, 8)}`;
};

const move = async (from: Buffer, to: string): Promise<Buffer> => {
  try {
    await rename(from, to);
    return Buffer.from(to);
  } catch {
    // Such as on another file system.
  }
  if (await copied(from, to)) return Buffer.from(to);
  // If it cannot be copied, rename it in place.
  const beside = unusedSibling(from);
  await rename(from, beside);
  return beside;
};

// `cp` of Node accepts UTF-8 paths only.
const copied = async (from: Buffer, to: string): Promise<boolean> => {
  const text = utf8Path(from.toString('latin1'));
  if (text === undefined) return false;
  try {
    await cp(text, to, { recursive: true, verbatimSymlinks: true });
    await rm(text, { recursive: true, force: true });
    return true;
  } catch {
    await rm(to, { recursive: true, force: true });
    return false;
  }
};

const unusedSibling = (path: Buffer, number = 1): Buffer => {
  const name = plus(path, number === 1 ? '.disarmed' : `.disarmed-${number}`);
  return isThere(name) ? unusedSibling(path, number + 1) : name;
};
