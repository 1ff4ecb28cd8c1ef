import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isDone } from '../../store/base/attempt.ts';
import { sha256 } from '../../store/base/sha256.ts';
import { entriesOfFile, userConfigFiles } from '../tools/git/run/config.ts';
import { entriesOf, plainText } from '../tools/git/run/plain-file.ts';
import { redactConfig } from '../tools/git/run/redact-config.ts';
import type { Environment } from '../tools/process/environment.ts';
import { isDirectory, isLink, type Mount, real } from './mounts.ts';

/** A git configuration file, and its path inside the sandbox. */
interface Seen {
  file: string;
  at: string;
}

interface Shown {
  env: Environment;
  /** Visible directories and files, with their paths inside. */
  places: readonly { from: string; to: string }[];
  /** Whether a path outside is visible at the same path inside. */
  isSeen: (path: string) => boolean;
}

/**
 * Mounts redacted copies over git configuration files that contain a login: the operator's, the system's, those of visible
 * repositories, and included files. Other files stay as they are.
 */
export const gitConfigMounts = ({ env, places, isSeen }: Shown): Mount[] => {
  const ofUser = real(userConfigFiles(env)).filter(isSeen);
  const found: Seen[] = [
    ...ofUser.map((file) => ({ file, at: file })),
    ...places.flatMap(({ from, to }) => settingsIn(from, to)),
  ];
  const named = new Set(found.map(({ file }) => file));
  for (const file of named) {
    if (named.size > MOST_FILES) break;
    for (const one of includedBy(file, env.HOME).filter(isSeen)) named.add(one);
  }
  const included = [...named].filter((file) => !found.some((one) => one.file === file));
  return [...found, ...included.map((file) => ({ file, at: file }))].flatMap(cover);
};

const MOST_FILES = 1000;
const MOST_BYTES = 1_048_576;

const NAMES = ['config', 'config.worktree'];

/** The configuration files of the repository at or directly in a path, with its submodules and linked worktrees. */
const settingsIn = (from: string, to: string): Seen[] => {
  if (NAMES.includes(basename(from)) && isRepository(dirname(from)))
    return [{ file: from, at: to }];
  if (isLink(from) || !isDirectory(from)) return [];
  const inner = isRepository(from)
    ? ['worktrees', 'modules'].flatMap((name) => below(from, name))
    : ['.git'];
  return [
    ...(isRepository(from) ? NAMES : [])
      .filter((name) => isFile(join(from, name)))
      .map((name) => ({ file: join(from, name), at: join(to, name) })),
    ...inner.flatMap((name) => settingsIn(join(from, name), join(to, name))),
  ];
};

const isRepository = (dir: string): boolean => isFile(join(dir, 'HEAD'));

// A submodule's name may contain slashes.
const below = (dir: string, name: string): string[] =>
  entriesOf(join(dir, name))
    .filter(({ kind }) => kind === 'directory')
    .flatMap((entry) => {
      const path = join(name, entry.name);
      return isRepository(join(dir, path)) ? [path] : below(dir, path);
    });

const includedBy = (file: string, home = '/'): string[] =>
  (entriesOfFile(textOf(file)) ?? [])
    .filter(({ key }) => /^include(?:if\..*)?\.path$/s.test(key))
    .flatMap(({ value = '' }) => {
      const path = Buffer.from(value, 'latin1')
        .toString('utf8')
        .replace(/^~(?=\/)/, home);
      return real([isAbsolute(path) ? path : resolve(dirname(file), path)]);
    })
    .filter((path) => !isDirectory(path));

// A file that is too long counts as secret. Links are not followed: an agent may have created them.
const textOf = (file: string): string =>
  plainText(file, MOST_BYTES) ?? (isFile(file) ? 'password' : '');

const isFile = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

const cover = ({ file, at }: Seen): Mount[] => {
  const text = redactConfig(textOf(file));
  const [path = at] = real([at]);
  return text === undefined ? [] : [{ path, arguments: ['--ro-bind', settingsCopy(text), path] }];
};

let own: string | undefined;

// One directory for all daemons of a user, with files named by their hash, so that a killed daemon leaves no garbage. It has no secrets.
const copies = (): string => {
  if (own !== undefined && existsSync(own)) return own;
  const uid = process.getuid?.() ?? 0;
  const path = join(tmpdir(), `dossier-settings-${uid}`);
  // Not recursive: it would recreate the directory of a workspace that is being moved.
  isDone(() => mkdirSync(path, { mode: 0o700 }), 'EEXIST');
  const found = lstatSync(path);
  const isOurs = found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
  own = isOurs ? path : mkdtempSync(`${path}-`);
  return own;
};

/** Writes a latin1 text to a file that no other user can write, and returns its path. */
export const settingsCopy = (text: string): string => {
  const path = join(copies(), sha256(text));
  if (existsSync(path)) return path;
  const made = `${path}.${process.pid}`;
  writeFileSync(made, text, { encoding: 'latin1', mode: 0o600 });
  renameSync(made, path);
  return path;
};
