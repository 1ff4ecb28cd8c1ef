import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readlink, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { notOfProject } from './conversation-owner.ts';
import { bytesOf, type Entry, entriesOf, LARGEST_BYTES } from './files.ts';
import {
  isMine,
  isOfWorktree,
  type Mine,
  matchesPattern,
  mayHold,
  type StateRules,
  sessionPattern,
} from './rules.ts';

const MOST_BYTES = 256 * 1024 * 1024;
const MOST_FILES = 20_000;

/** What of a tree was not copied, though the rules would have it: too large, too much, or of a name that is no text. */
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
    const stays =
      sessionPattern(path, known.rules, known.mine) !== undefined ||
      matchesPattern(path, known.rules.kept, known.mine);
    if (!entry.isText) await rm(entry.raw, { recursive: true, force: true });
    else if (entry.isDirectory) {
      await clear(root, path, known);
      // An empty one may stand where a file of the operator's belongs.
      await rmdir(join(root, path)).catch(() => undefined);
    } else if (!stays || !entry.isFile) await rm(join(root, path), { force: true });
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
    if (!entry.isText) copying.refused.push(path);
    else if (entry.isDirectory) await copyDirectory(from, to, path, copying);
    else await copyOne(join(from, path), join(to, path), { path, entry, copying });
  }
};

const isTaken = (path: string, entry: Entry, { rules, mine }: Copying): boolean => {
  // The daemon's own, the copy itself among it.
  if (entry.name === '.dossier') return false;
  if (!matchesPattern(path, [...(rules.left ?? []), ...(rules.shared ?? [])], mine)) return true;
  if (isMine(path, rules, mine)) return true;
  // Below it there may be what is this run's own.
  const wanted = Object.keys(rules.sessions ?? {}).filter(
    (pattern) => mine.native_session_id !== undefined || isOfWorktree(pattern),
  );
  return entry.isDirectory && mayHold(path, wanted, mine);
};

interface One {
  path: string;
  entry: Entry;
  copying: Copying;
}

const copyOne = async (from: string, to: string, { path, entry, copying }: One): Promise<void> => {
  // What the copy keeps is newer there.
  if ((await lstat(to).catch(() => undefined)) !== undefined) return;
  if (!(await isShown(from, path, copying))) return;
  if (entry.isLink) {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    return symlink(await readlink(from), to);
  }
  if (!entry.isFile) return;
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

// The id that a conversation is found by is the agent's word: what is in it says whether it is of this project.
const isShown = async (from: string, path: string, { rules, mine }: Copying): Promise<boolean> => {
  const pattern = sessionPattern(path, rules, mine);
  const rule = pattern === undefined ? undefined : rules.sessions?.[pattern];
  if (pattern === undefined || rule === undefined) return true;
  if (!isMine(path, rules, mine)) return false;
  if (isOfWorktree(pattern)) return true;
  const bytes = await bytesOf(from, LARGEST_BYTES).catch(() => undefined);
  const looked = { rule, cwd: mine.cwd, placed: false };
  return bytes !== undefined && (await notOfProject(bytes, looked)) === undefined;
};
