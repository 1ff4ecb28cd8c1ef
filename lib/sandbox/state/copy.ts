import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readlink, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { whyOtherProject } from './conversation-owner.ts';
import { bytesOf, type Entry, entriesOf, isThere, LARGEST_BYTES } from './files.ts';
import {
  conversationAt,
  hasSessionId,
  isOwnConversation,
  isProjectPattern,
  matchesPattern,
  mayHold,
  type RunScope,
  type StateRules,
} from './rules.ts';

const MOST_BYTES = 256 * 1024 * 1024;
const MOST_FILES = 20_000;

/** Paths that the rules allow but that were not copied: too large, too many, or with a name that is not UTF-8. */
export type RefusedFiles = string[];

interface Copying {
  rules: StateRules;
  scope: RunScope;
  bytes: number;
  files: number;
  refused: RefusedFiles;
}

/**
 * Copies the files and links of `from` that the rules allow into `to`. Follows no links. First removes everything from `to`
 * that the rules do not keep, so that an agent's changes of its own settings do not outlast the turn.
 */
export const copyIn = async (
  from: string,
  to: string,
  { rules, scope }: Pick<Copying, 'rules' | 'scope'>,
): Promise<RefusedFiles> => {
  await clear(to, '', { rules, scope });
  const copying: Copying = { rules, scope, bytes: 0, files: 0, refused: [] };
  await copyDirectory(from, to, '', copying);
  return copying.refused;
};

const clear = async (
  root: string,
  under: string,
  known: Pick<Copying, 'rules' | 'scope'>,
): Promise<void> => {
  for (const entry of await entriesOf(join(root, under))) {
    const path = join(under, entry.name);
    const stays =
      conversationAt(path, known.rules, known.scope) !== undefined ||
      matchesPattern(path, known.rules.kept, known.scope);
    if (!entry.isText) await rm(entry.raw, { recursive: true, force: true });
    else if (entry.isDirectory) {
      await clear(root, path, known);
      // An empty directory may block a file of the operator.
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

const isTaken = (path: string, entry: Entry, { rules, scope }: Copying): boolean => {
  // The daemon's own directory, which contains the copy.
  if (entry.name === '.dossier') return false;
  if (!matchesPattern(path, [...(rules.left ?? []), ...(rules.shared ?? [])], scope)) return true;
  if (isOwnConversation(path, rules, scope)) return true;
  // The directory may contain this run's conversations.
  const wanted = Object.keys(rules.sessions ?? {}).filter(
    (pattern) => scope.native_session_id !== undefined || isProjectPattern(pattern),
  );
  return entry.isDirectory && mayHold(path, wanted, scope);
};

interface One {
  path: string;
  entry: Entry;
  copying: Copying;
}

const copyOne = async (from: string, to: string, { path, entry, copying }: One): Promise<void> => {
  // A kept file is newer in the copy.
  if (await isThere(to)) return;
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

// The session id comes from the agent, so the content must show that the conversation belongs to this project.
const isShown = async (from: string, path: string, { rules, scope }: Copying): Promise<boolean> => {
  const found = conversationAt(path, rules, scope);
  if (found === undefined || found.placed) return true;
  if (!hasSessionId(path, rules, scope)) return false;
  const bytes = await bytesOf(from, LARGEST_BYTES).catch(() => undefined);
  const looked = { ...found, cwd: scope.cwd };
  return bytes !== undefined && (await whyOtherProject(bytes, looked)) === undefined;
};
