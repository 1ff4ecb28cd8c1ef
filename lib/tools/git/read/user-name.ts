import { realpathSync } from 'node:fs';
import { orElse } from '../../../../store/base/attempt.ts';
import type { Environment } from '../../process/environment.ts';
import {
  type ConfigEntry,
  listSettings,
  plainEntries,
  SETTINGS_BYTES,
  settingsText,
  userConfigFiles,
  valueIn,
} from '../run/config.ts';
import type { Checkout, GitAt } from '../run/git.ts';
import { utf8Path } from '../run/path-text.ts';
import { plainText } from '../run/plain-file.ts';

/** The user's name as git would use it in a commit; null if none is configured. */
export const userName = async (git: GitAt<Checkout>, env: Environment): Promise<string | null> => {
  const entries = plainEntries([...userConfigFiles(env).map(textOf), settingsText(git.place)]);
  const name =
    entries === undefined
      ? await git.find(['config', '--get', 'user.name'])
      : utf8Path(entries.findLast(({ key }) => key === 'user.name')?.value ?? '');
  return name?.trim().slice(0, LONGEST) || null;
};

const LONGEST = 200;

/**
 * The settings of the name and address in commits, read as latin1, where the user's configuration includes files: another git
 * directory may get others (`includeIf`), and a sandbox may not show the files. Empty, without a git process, where it
 * includes none.
 */
export const includedIdentity = async (
  git: GitAt<Checkout>,
  env: Environment,
): Promise<ConfigEntry[]> => {
  if (plainEntries(userConfigFiles(env).map(textOf)) !== undefined) return [];
  const entries = await listSettings(git, 'latin1');
  return IDENTITY.flatMap((key) => {
    const value = valueIn(entries, key);
    return value === undefined ? [] : [{ key, value }];
  });
};

const IDENTITY = ['user', 'author', 'committer'].flatMap((who) => [`${who}.name`, `${who}.email`]);

// The operator's own files are often links.
const textOf = (path: string): string | undefined => {
  const real = orElse(() => realpathSync(path), undefined, 'ENOENT');
  return real === undefined ? '' : plainText(real, SETTINGS_BYTES);
};
