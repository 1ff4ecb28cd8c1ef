import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  opendirSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { beside, createFile, hasCode } from '../fs/durable.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { makeSyncedDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { SETTINGS_TEXT } from '../settings/settings-text.ts';

export const GITIGNORE = `# Of this machine only: secrets, deliveries, worktrees, temporary files
.dossier/
*.lock/
*.tmp
# Who works on a Work item right now
**/sessions/lock.md
# Left by editors
*~
.*.sw?
`;

// No merge=union, though both of two machines may append: it keeps what one of them removed, repeats keys of YAML and
// numbers of events, and tells nobody.
export const GITATTRIBUTES = `# A plan is approved, and a proof verified, by its bytes: git changes none of them, also where it likes other line ends
* -text
# Written by the daemon, whole: after a conflict there is the one or the other, not lines of both
events.ndjson -merge
*.patch -merge
`;

/**
 * Makes the files that a workspace should have and has not: settings, and what keeps git from secrets and from changing
 * bytes. Touches nothing that is there. Answers what it made.
 */
export const makeWorkspaceFiles = async (
  layout: Layout,
  settings = SETTINGS_TEXT,
): Promise<string[]> => {
  makeSyncedDirectory(layout.tmp, 0o700, layout.root);
  // Whatever the operator's own .gitignore says, no `git add` reaches a secret.
  const wanted = {
    '.dossier/.gitignore': '*\n',
    '.gitignore': GITIGNORE,
    '.gitattributes': GITATTRIBUTES,
    'workspace.md': settings,
  };
  const made: string[] = [];
  for (const [name, text] of Object.entries(wanted)) {
    const path = join(layout.root, name);
    const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    if (!isThere && (await createFile(layout, path, text))) made.push(name);
  }
  return made;
};

/** Makes the directory of a workspace if need be; answers why it cannot be one, in words that follow its path. */
export const makeWorkspace = (root: string): string | undefined =>
  explained(() => makeSyncedDirectory(root)) ?? whyNoWorkspace(root);

/** Why a directory cannot be a workspace, in words that follow its path; undefined when it can. Writes nothing. */
export const whyNoWorkspace = (root: string): string | undefined =>
  explained(() => {
    opendirSync(root).closeSync();
    accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK);
  });

/**
 * Why nothing can be written to a workspace that is there, in words that follow its path: a file is made beside its
 * records, and where the daemon makes its own, and is gone again.
 */
export const whyNotWritten = ({ root, tmp }: Layout): string | undefined =>
  explained(() => {
    for (const dir of [root, tmp]) if (isDirectoryItself(dir)) tryWrite(beside(join(dir, 'try')));
  });

const tryWrite = (path: string): void => {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, 'x');
    fsyncSync(file);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
};

const explained = (attempt: () => unknown): string | undefined => {
  try {
    attempt();
    return undefined;
  } catch (error) {
    const words = hasCode(error, 'ENOENT') ? 'cannot be made' : fileRefusal(error);
    if (words === undefined) throw error;
    return words;
  }
};

/** Why the file system refuses something, in words that follow a path; undefined for what is no such error. */
export const fileRefusal = (error: unknown): string | undefined =>
  WHY_NOT.find(([code]) => hasCode(error, code))?.[1];

const WHY_NOT: readonly (readonly [code: string, words: string])[] = [
  ['ENOTDIR', 'is a file, or below one'],
  ['EEXIST', 'is a file, or below one'],
  ['EISDIR', 'is a directory, and a file has to be there'],
  ['EACCES', 'cannot be read and written by this user'],
  ['EPERM', 'cannot be read and written by this user'],
  ['EROFS', 'is on a file system that is mounted read-only'],
  ['ELOOP', 'is a link that leads in a circle'],
  ['ENOSPC', 'is on a disk that is full'],
  ['EDQUOT', 'is on a disk of which this user may have no more'],
  ['EIO', 'is on a disk that fails'],
  ['EMFILE', 'cannot be opened: this process may have no more open files (ulimit -n)'],
  ['ENFILE', 'cannot be opened: this system may have no more open files'],
];
