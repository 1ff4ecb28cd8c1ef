import { constants, type Dirent } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMine, type Mine, matchesPattern, type StateRules } from './place.ts';

const MOST_BYTES = 256 * 1024 * 1024;
const LARGEST_BYTES = 64 * 1024 * 1024;
const MOST_FILES = 20_000;

/** What of a tree was not copied, though the rules would have it: too large, or too much. */
export type RefusedFiles = string[];

interface Copying {
  rules: StateRules;
  mine: Mine;
  bytes: number;
  files: number;
  refused: RefusedFiles;
}

/**
 * Copies what the rules let of `from` into `to`: files and links, none followed. What the rules keep there stays, all
 * else that is there is removed first, so that no setting which an agent made for itself lasts longer than its turn.
 */
export const copyIn = async (
  from: string,
  to: string,
  { rules, mine }: Pick<Copying, 'rules' | 'mine'>,
): Promise<RefusedFiles> => {
  await clear(to, '', { rules, mine });
  const copying: Copying = { rules, mine, bytes: 0, files: 0, refused: [] };
  await copyDirectory(from, to, '', copying);
  return copying.refused;
};

const clear = async (
  root: string,
  under: string,
  known: Pick<Copying, 'rules' | 'mine'>,
): Promise<void> => {
  for (const entry of await entriesOf(join(root, under))) {
    const path = join(under, entry.name);
    const stays = matchesPattern(
      path,
      [...(known.rules.sessions ?? []), ...(known.rules.kept ?? [])],
      known.mine,
    );
    if (entry.isDirectory()) await clear(root, path, known);
    else if (!stays || !entry.isFile()) await rm(join(root, path), { force: true });
  }
};

const copyDirectory = async (
  from: string,
  to: string,
  under: string,
  copying: Copying,
): Promise<void> => {
  for (const entry of await entriesOf(join(from, under))) {
    const path = join(under, entry.name);
    if (!isTaken(path, entry, copying)) continue;
    if (entry.isDirectory()) await copyDirectory(from, to, path, copying);
    else await copyOne(join(from, path), join(to, path), { path, entry, copying });
  }
};

const isTaken = (path: string, entry: Dirent, { rules, mine }: Copying): boolean => {
  // The daemon's own, the copy itself among it.
  if (entry.name === '.dossier') return false;
  if (!matchesPattern(path, [...(rules.left ?? []), ...(rules.shared ?? [])], mine)) return true;
  if (isMine(path, rules, mine)) return true;
  // Below it there may be what is this run's own.
  return entry.isDirectory() && mayHold(path, rules, mine);
};

const mayHold = (path: string, { sessions = [] }: StateRules, mine: Mine): boolean =>
  sessions.some((pattern) => pattern.split('/')[0] === path.split('/')[0]) &&
  (mine.native_session_id !== undefined ||
    sessions.some((pattern) => pattern.includes('{project}')));

interface One {
  path: string;
  entry: Dirent;
  copying: Copying;
}

const copyOne = async (from: string, to: string, { path, entry, copying }: One): Promise<void> => {
  const { rules, mine } = copying;
  if (matchesPattern(path, rules.sessions, mine) && !isMine(path, rules, mine)) return;
  // What the copy keeps is newer there.
  if ((await lstat(to).catch(() => undefined)) !== undefined) return;
  if (entry.isSymbolicLink()) {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    return symlink(await readlink(from), to);
  }
  if (!entry.isFile()) return;
  const { size } = await lstat(from);
  copying.bytes += size;
  copying.files += 1;
  if (size > LARGEST_BYTES || copying.bytes > MOST_BYTES || copying.files > MOST_FILES) {
    copying.refused.push(path);
    return;
  }
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to, constants.COPYFILE_FICLONE);
};

/** All regular files below a directory; no link is followed, and nothing that is no file is listed. */
export const regularFiles = async (root: string, under = ''): Promise<string[]> => {
  const found: string[] = [];
  for (const entry of await entriesOf(join(root, under))) {
    const path = join(under, entry.name);
    if (entry.isDirectory()) found.push(...(await regularFiles(root, path)));
    else if (entry.isFile()) found.push(path);
  }
  return found;
};

// What is not there is empty; what cannot be read, nobody of ours could have read either.
const entriesOf = (path: string) => readdir(path, { withFileTypes: true }).catch(() => []);

/** Another stamp, another content, as far as the file system tells; undefined for what is no file. */
export const stampOf = async (path: string): Promise<string | undefined> => {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile()) return found === undefined ? '' : undefined;
  return [found.ino, found.size, found.mtimeMs].join(' ');
};
