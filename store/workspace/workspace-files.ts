import { accessSync, constants, lstatSync, opendirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, hasCode, isFailingDisk } from '../base/attempt.ts';
import { beside, createFile } from '../fs/durable.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { makeSyncedDirectory, writeSynced } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { SETTINGS_TEXT } from '../settings/settings-text.ts';

const GITIGNORE = `# Of this machine only: secrets, deliveries, worktrees, temporary files
.dossier/
*.lock/
*.tmp
# Who works on a Work item right now
**/sessions/lock.md
# Left by editors
*~
.*.sw?
.#*
\\#*#
`;

// No merge=union: it keeps lines that one side removed, and silently repeats YAML keys and event numbers.
const GITATTRIBUTES = `# A plan is approved, and a proof verified, by its bytes: git changes none of them, also where it likes other line ends
* -text
# Written by the daemon, whole: after a conflict there is the one or the other, not lines of both
events.ndjson -merge
*.patch -merge
`;

/** The files of a new workspace that git keeps, by name. */
export const WORKSPACE_FILES: Readonly<Record<string, string>> = {
  '.gitignore': GITIGNORE,
  '.gitattributes': GITATTRIBUTES,
  'workspace.md': SETTINGS_TEXT,
};

/**
 * Creates the missing files of a workspace: settings, .gitignore files that protect secrets, and .gitattributes. Existing
 * files stay. Returns the names of the files that it created.
 */
export const makeWorkspaceFiles = async (
  layout: Layout,
  settings = SETTINGS_TEXT,
): Promise<string[]> => {
  makeSyncedDirectory(layout.tmp, 0o700, layout.root);
  // Keeps `git add` from secrets, whatever the operator's own .gitignore says.
  const wanted = { '.dossier/.gitignore': '*\n', ...WORKSPACE_FILES, 'workspace.md': settings };
  const made: string[] = [];
  for (const [name, text] of Object.entries(wanted)) {
    const path = join(layout.root, name);
    const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    if (!isThere && (await createFile(layout, path, text))) made.push(name);
  }
  return made;
};

/** Creates the directory of a workspace if missing; returns why it cannot be used, as words that follow its path. */
export const makeWorkspace = (root: string): string | undefined =>
  explainFailure(() => makeSyncedDirectory(root)) ?? workspaceObstacle(root);

/**
 * Why a directory cannot be a workspace, or be read as one, as words that follow its path; undefined if it can. Writes
 * nothing.
 */
export const workspaceObstacle = (
  root: string,
  use: 'read' | 'write' = 'write',
): string | undefined =>
  explainFailure(() => {
    opendirSync(root).closeSync();
    const { R_OK, W_OK, X_OK } = constants;
    accessSync(root, use === 'read' ? R_OK | X_OK : R_OK | W_OK | X_OK);
  });

/**
 * Why files cannot be written in these directories, as words that follow the path of their workspace; undefined if they can.
 * Creates and removes a file in each that exists, because only a write shows a quota or a disk that fails.
 */
export const writeObstacle = async (...dirs: string[]): Promise<string | undefined> => {
  try {
    for (const dir of dirs.filter(isDirectoryItself)) await tryWrite(beside(join(dir, 'try')));
    return undefined;
  } catch (error) {
    return wordsOf(error);
  }
};

const tryWrite = async (path: string): Promise<void> => {
  try {
    await writeSynced(path, 'x', 0o600);
  } finally {
    unlinkIfThere(path);
  }
};

/**
 * Why agents can have no session in a workspace, as words that follow its path; undefined if they can. Creates and removes a
 * symbolic link: what git needs for a session is put together of them.
 */
export const linkObstacle = ({ tmp }: Layout): string | undefined => {
  const path = beside(join(tmp, 'link'));
  try {
    symlinkSync(tmp, path);
  } catch (error) {
    return hasCode(error, 'EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP') ? NO_LINKS : undefined;
  }
  unlinkIfThere(path);
  return undefined;
};

const NO_LINKS =
  'is on a file system without symbolic links (such as FAT or exFAT), which sessions of agents need. Move the workspace to another one';

const explainFailure = (attempt: () => unknown): string | undefined => {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return wordsOf(error);
  }
};

const wordsOf = (error: unknown): string => {
  const words = hasCode(error, 'ENOENT') ? 'cannot be created' : fileRefusal(error);
  if (words === undefined) throw error;
  return words;
};

/** The reason of a file system error, as words that follow a path; undefined for other errors. */
export const fileRefusal = (error: unknown): string | undefined =>
  isFailingDisk(error)
    ? `is on a disk that fails (${codeOf(error)})`
    : WHY_NOT.find(([code]) => hasCode(error, code))?.[1];

const WHY_NOT: readonly (readonly [code: string, words: string])[] = [
  ['ENOTDIR', 'is a file, or below one'],
  ['EEXIST', 'is a file, or below one'],
  ['EISDIR', 'is a directory, but must be a file'],
  ['EACCES', 'cannot be read and written by this user'],
  ['EPERM', 'cannot be read and written by this user'],
  ['EROFS', 'is on a file system that is mounted read-only'],
  ['ENAMETOOLONG', 'is too long, or has a name that is'],
  ['ELOOP', 'is a loop of symbolic links'],
  ['ENOSPC', 'is on a disk that is full'],
  ['EDQUOT', 'is on a disk on which this user has reached the quota'],
  [
    'EMFILE',
    'cannot be opened: this process has too many open files. Raise the limit (ulimit -n 4096)',
  ],
  ['ENFILE', 'cannot be opened: this system has too many open files'],
  ['ENOMEM', 'cannot be opened: this system has no memory left'],
];
