import { realpathSync } from 'node:fs';
import { orElse } from '../../../../store/base/attempt.ts';
import type { Environment } from '../../process/environment.ts';
import {
  type ConfigEntry,
  entriesOfFile,
  SETTINGS_BYTES,
  settingsText,
  userConfigFiles,
} from '../run/config.ts';
import type { Checkout, GitAt } from '../run/git.ts';
import { utf8Path } from '../run/path-text.ts';
import { plainText } from '../run/plain-file.ts';

/** The user's name as git would use it in a commit; null if none is configured. */
export const userName = async (git: GitAt<Checkout>, env: Environment): Promise<string | null> => {
  const entries = plainEntries(git.place, env);
  const name =
    entries === undefined
      ? await git.find(['config', '--get', 'user.name'])
      : utf8Path(entries.findLast(({ key }) => key === 'user.name')?.value ?? '');
  return name?.trim().slice(0, LONGEST) || null;
};

const LONGEST = 200;

// The common case, without a git process: no includes.
const plainEntries = (place: Checkout, env: Environment): ConfigEntry[] | undefined => {
  const texts = [...userConfigFiles(env).map(textOf), settingsText(place)];
  const entries = texts.map((text) => entriesOfFile(text ?? '['));
  const isPlain = entries.every(
    (each) => each?.some(({ key }) => key.startsWith('include')) === false,
  );
  return isPlain ? entries.flatMap((each) => each ?? []) : undefined;
};

// The operator's own files are often links.
const textOf = (path: string): string | undefined => {
  const real = orElse(() => realpathSync(path), undefined, 'ENOENT');
  return real === undefined ? '' : plainText(real, SETTINGS_BYTES);
};
