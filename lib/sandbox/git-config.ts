import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isDone } from '../../store/base/attempt.ts';
import { sha256 } from '../../store/base/sha256.ts';
import { unlinkIfThere } from '../../store/fs/remove.ts';
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
  const found: Seen[] = [...ofUser.map((file) => ({ file, at: file })), ...settingsIn(places)];
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

/** The configuration files of the repositories at or directly in places, with their submodules and linked worktrees. */
const settingsIn = (places: Shown['places']): Seen[] => {
  const isSettings = (path: string): boolean =>
    NAMES.includes(basename(path)) && isRepository(dirname(path));
  const others = places.filter(
    ({ from }) => !isSettings(from) && !isLink(from) && isDirectory(from),
  );
  const dirs = others.map(({ from, to }) => {
    const inner = isRepository(from) ? '' : '.git';
    return [join(from, inner), join(to, inner)] as const;
  });
  // A checkout and its git directory are often both visible.
  const each = new Map(dirs.map((dir) => [dir.join('\0'), dir]));
  return [
    ...places
      .filter(({ from }) => isSettings(from))
      .map(({ from, to }) => ({ file: from, at: to })),
    ...[...each.values()].flatMap(([dir, seen]) => settingsOf(dir, seen) ?? []),
  ];
};

const isRepository = (dir: string): boolean => isFile(join(dir, 'HEAD'));

// With one look into each linked worktree: a repository may have hundreds.
const settingsOf = (dir: string, seen: string): Seen[] | undefined => {
  const entries = entriesOf(dir);
  const has = (kind: string, name: string): boolean =>
    entries.some((entry) => entry.kind === kind && entry.name === name);
  if (!has('file', 'HEAD')) return undefined;
  return [
    ...NAMES.filter((name) => has('file', name)).map((name) => ({
      file: join(dir, name),
      at: join(seen, name),
    })),
    ...['worktrees', 'modules']
      .filter((name) => has('directory', name))
      .flatMap((name) => settingsBelow(join(dir, name), join(seen, name))),
  ];
};

// A submodule's name may contain slashes.
const settingsBelow = (dir: string, seen: string): Seen[] =>
  entriesOf(dir)
    .filter(({ kind }) => kind === 'directory')
    .flatMap(({ name }) => {
      const [from, to] = [join(dir, name), join(seen, name)];
      return settingsOf(from, to) ?? settingsBelow(from, to);
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

const UNUSED_MS = 7 * 24 * 3_600_000;

/**
 * Writes a latin1 text to a file that no other user can write, and returns its path. The file's time is its last use; with a
 * new one, those go that were not used for a week.
 */
export const settingsCopy = (text: string): string => {
  const directory = copies();
  const path = join(directory, sha256(text));
  const now = new Date();
  if (isDone(() => utimesSync(path, now, now), 'ENOENT')) return path;
  for (const name of readdirSync(directory)) removeUnused(join(directory, name), +now);
  const made = `${path}.${process.pid}`;
  writeFileSync(made, text, { encoding: 'latin1', mode: 0o600 });
  renameSync(made, path);
  return path;
};

// Another daemon may remove it at the same time.
const removeUnused = (path: string, now: number): void => {
  const since = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
  if (now - since > UNUSED_MS) unlinkIfThere(path);
};
