import { lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS_BYTES } from './config.ts';
import type { GitAt, GitWorktree } from './git.ts';
import { plainText } from './plain-file.ts';
import { inTemporary } from './temporary.ts';

/**
 * Runs `work` with a git that ignores `diff` attributes of the worktree's `.gitattributes` and detects binary files by
 * content. Only `info/attributes` has precedence over them and no variable names it, so git gets a temporary common directory
 * whose other files link to the repository's. The operator's own `info/attributes` stay in force.
 */
export const withTextAttributes = <T>(
  git: GitAt<GitWorktree>,
  work: (git: GitAt<GitWorktree>) => Promise<T>,
): Promise<T> =>
  inTemporary('attributes', async (dir) => {
    const { common_dir } = git.place;
    linkAll(common_dir, dir, ['config', 'info']);
    mkdirSync(join(dir, 'info'));
    linkAll(join(common_dir, 'info'), join(dir, 'info'), ['attributes']);
    const own = textOf(join(common_dir, 'info', 'attributes'));
    writeFileSync(join(dir, 'info', 'attributes'), `* !diff\n${own}`, 'latin1');
    writeFileSync(join(dir, 'config'), configOver(join(common_dir, 'config')), 'latin1');
    return work(git.with({ env: { GIT_COMMON_DIR: dir } }));
  });

const linkAll = (from: string, to: string, without: readonly string[]): void => {
  if (lstatSync(from, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(from))
    if (!without.includes(name)) symlinkSync(join(from, name), join(to, name));
};

// Contains the text, where git looks for repository format settings, and includes the file, for its relative includes.
const configOver = (path: string): string => {
  const quoted = Buffer.from(path).toString('latin1').replaceAll(/["\\]/g, '\\$&');
  return `${textOf(path)}\n[include]\n\tpath = "${quoted}"\n`;
};

const textOf = (path: string): string => plainText(path, SETTINGS_BYTES) ?? '';
