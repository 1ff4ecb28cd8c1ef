import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Runner, Worktree } from '../git.ts';
import { plainText } from './plain-file.ts';

/** The repositories inside a worktree, by the paths of their directories. */
export interface Inner {
  paths: string[];
  /** SHA-256 of all `.gitignore` files. */
  ignores: string;
}

/**
 * The repositories inside a worktree, submodules among them. Where git ignores a directory nobody looks: but where the
 * rules are other ones than `known`, they are not believed.
 */
export const innerRepositories = async (
  git: Runner,
  worktree: Worktree,
  known?: string,
): Promise<Inner> => {
  const found = await walk(worktree.path, await ignoredIn(git, worktree));
  return known === undefined || known === found.ignores ? found : walk(worktree.path, new Set());
};

const ignoredIn = async (git: Runner, worktree: Worktree): Promise<Set<string>> => {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const { stdout } = await git.run(worktree, args, { read: true });
  const listed = stdout.toString('utf8').split('\0');
  return new Set(listed.flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : [])));
};

const walk = async (root: string, ignored: ReadonlySet<string>): Promise<Inner> => {
  const rules = createHash('sha256');
  const paths: string[] = [];
  const open = [''];
  for (let dir = open.shift(); dir !== undefined; dir = open.shift()) {
    const entries = await readdir(join(root, dir), { withFileTypes: true }).catch(() => []);
    const names = new Set(entries.map(({ name }) => name));
    if (dir !== '' && names.has('.git')) paths.push(dir);
    if (names.has('.gitignore')) {
      const text = plainText(join(root, dir, '.gitignore'), MOST_BYTES) ?? '';
      rules.update(`${dir}\0${text}\0`);
    }
    const below = entries
      .filter((entry) => entry.isDirectory() && entry.name !== '.git')
      .map(({ name }) => (dir === '' ? name : `${dir}/${name}`));
    open.push(...below.filter((path) => !ignored.has(path)).toSorted());
  }
  return { paths, ignores: rules.digest('hex') };
};

const MOST_BYTES = 1_048_576;
