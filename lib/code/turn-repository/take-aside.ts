import { lstatSync, mkdirSync, realpathSync, renameSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import type { GitWorktree } from '../../tools/git/run/git.ts';
import { onDisk } from '../../tools/git/run/index-copy.ts';
import { pathText, utf8Path } from '../../tools/git/run/path-text.ts';
import { freeName } from './armed.ts';
import { openUp } from './inner.ts';

interface Aside {
  /** The directory that it goes to, which is made when it is needed. */
  aside: string;
  /** Whether the path is that of the git directory itself. */
  isBare: boolean;
}

/**
 * Moves the git directory at a path of a worktree, read as latin1, out of it, and answers where it is now; undefined for
 * what is not there, or lies outside. Nothing of it is lost, and git finds no repository where it is.
 */
export const takeAside = async (
  worktree: GitWorktree,
  path: string,
  { aside, isBare }: Aside,
): Promise<string | undefined> => {
  const at = onDisk(worktree, path);
  const from = isBare ? at : onDisk(worktree, `${path}/.git`);
  // Another name of it may have been first.
  if (!(liesInside(worktree.path, at) && isThere(from))) return undefined;
  mkdirSync(aside, { recursive: true });
  // Nothing is taken out of a directory that is shut, and none that is shut itself.
  openUp(isBare ? onDisk(worktree, dirname(path)) : at);
  openUp(from);
  const to = await move(from, freeName(join(aside, `${nameOf(path)}.git-directory`)));
  // Where it is now git must find none either.
  if (lstatSync(to).isDirectory()) putOut(to, ['.git', 'HEAD', ...PROGRAMS, ...ELSEWHERE]);
  return pathText(to.toString('latin1'));
};

const PROGRAMS = ['config', 'hooks'];
const ELSEWHERE = ['commondir', 'config.worktree'];

/**
 * In a repository of a turn that is over: what would have a git that is started there look for settings elsewhere, and
 * where an agent could write them also the settings and hooks themselves, are put beside.
 */
export const putOutArms = (dir: string, mayHaveWritten: boolean): void =>
  putOut(Buffer.from(dir), mayHaveWritten ? [...PROGRAMS, ...ELSEWHERE] : ELSEWHERE);

const putOut = (dir: Buffer, names: readonly string[]): void => {
  for (const name of names.filter((one) => isThere(plus(dir, `/${one}`))))
    renameSync(plus(dir, `/${name}`), freeBeside(plus(dir, `/${name}`)));
};

// The names are an agent's, and so are links on the way.
const liesInside = (root: string, path: Buffer): boolean =>
  orElse(() => {
    const [inner, outer] = [path, root].map((one) => realpathSync.native(one, 'latin1'));
    return inner?.startsWith(`${outer}/`) === true;
  }, false);

const isThere = (path: Buffer): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const plus = (path: Buffer, end: string): Buffer => Buffer.concat([path, Buffer.from(end)]);

const nameOf = (path: string): string => {
  const name = pathText(path).replaceAll('/', '-');
  if (Buffer.byteLength(name) <= 200) return name;
  return `${name.slice(0, 40)}-${sha256(path).slice(0, 8)}`;
};

const move = async (from: Buffer, to: string): Promise<Buffer> => {
  try {
    await rename(from, to);
    return Buffer.from(to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
  }
  if (await copied(from, to)) return Buffer.from(to);
  // What cannot be copied stays beside, whole.
  const beside = freeBeside(from);
  await rename(from, beside);
  return beside;
};

// Node copies by names that are UTF-8 alone.
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

const freeBeside = (path: Buffer, number = 1): Buffer => {
  const name = plus(path, number === 1 ? '.disarmed' : `.disarmed-${number}`);
  return isThere(name) ? freeBeside(path, number + 1) : name;
};
