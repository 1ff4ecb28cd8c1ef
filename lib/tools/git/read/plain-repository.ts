import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import { entriesOfFile } from '../run/config-file.ts';
import type { ConfigEntry } from '../run/config-text.ts';
import type { Checkout } from '../run/git.ts';
import { settingsText } from '../run/settings-files.ts';
import { isPlainHead } from './plain-refs.ts';

/**
 * The repository at the top of whose working files a directory is, without a run of git. Only where all is as `git init`
 * and `git clone` leave it, and belongs to this user; of anything else git itself says what it is.
 */
export const plainRepository = (directory: string): (Checkout & { root: string }) | undefined =>
  orElse(() => {
    const root = realpathSync(directory);
    const git_dir = join(root, '.git');
    const place = { git_dir, common_dir: git_dir };
    const isOurs = [root, git_dir].every((path) => isOwnDirectory(lstatSync(path)));
    return isOurs && isWhole(git_dir) && isPlainHead(place) && isUsual(place)
      ? { root, ...place }
      : undefined;
  }, undefined);

const isOwnDirectory = (found: Stats): boolean =>
  found.isDirectory() && found.uid === process.geteuid?.();

const isWhole = (git_dir: string): boolean => {
  const isLinked = lstatSync(join(git_dir, 'commondir'), { throwIfNoEntry: false }) !== undefined;
  const dirs = ['objects', 'refs'].map((name) => lstatSync(join(git_dir, name)));
  return !isLinked && dirs.every((found) => found.isDirectory());
};

const isUsual = (place: Checkout): boolean =>
  entriesOfFile(settingsText(place) ?? '[')?.every(isUsualEntry) === true;

const isUsualEntry = ({ key, value }: ConfigEntry): boolean => {
  if (key === 'core.repositoryformatversion') return value === '0';
  if (key === 'core.bare') return value === 'false';
  return key !== 'core.worktree' && !/^(?:include|extensions\.)/.test(key);
};
