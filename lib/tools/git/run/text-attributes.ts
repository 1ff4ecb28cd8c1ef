import { lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SETTINGS_BYTES } from './config.ts';
import type { GitAt, GitWorktree } from './git.ts';
import { plainText } from './plain-file.ts';

/**
 * Lends `work` a git that shows text as text, whatever `.gitattributes` of the worktree call it, and
 * tells what is binary by its content. Only `info/attributes` weighs more than those, and has no variable: so the common
 * directory is another one, all of whose files but that are the repository's own. What its operator wrote there holds.
 */
export const textAsText = async <T>(
  git: GitAt<GitWorktree>,
  work: (git: GitAt<GitWorktree>) => Promise<T>,
): Promise<T> => {
  const { common_dir } = git.place;
  const dir = await mkdtemp(join(tmpdir(), 'dossier-attributes-'));
  try {
    linkAll(common_dir, dir, ['config', 'info']);
    mkdirSync(join(dir, 'info'));
    linkAll(join(common_dir, 'info'), join(dir, 'info'), ['attributes']);
    const own = textOf(join(common_dir, 'info', 'attributes'));
    writeFileSync(join(dir, 'info', 'attributes'), `* !diff\n${own}`, 'latin1');
    writeFileSync(join(dir, 'config'), configOver(join(common_dir, 'config')), 'latin1');
    return await work(git.with({ env: { GIT_COMMON_DIR: dir } }));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};

const linkAll = (from: string, to: string, without: readonly string[]): void => {
  if (lstatSync(from, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(from))
    if (!without.includes(name)) symlinkSync(join(from, name), join(to, name));
};

// What it is to be read as git looks for in the file itself; what it includes is named from where it is.
const configOver = (path: string): string => {
  const quoted = Buffer.from(path).toString('latin1').replaceAll(/["\\]/g, '\\$&');
  return `${textOf(path)}\n[include]\n\tpath = "${quoted}"\n`;
};

const textOf = (path: string): string => plainText(path, SETTINGS_BYTES) ?? '';
