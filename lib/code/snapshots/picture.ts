import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../../base/sha256.ts';
import { ServiceError } from '../../errors.ts';
import { type StoredFile, storeFiles } from '../../tools/git/read/blobs.ts';
import { headCommit, symbolicRef } from '../../tools/git/read/repository.ts';
import { parseStatus, STATUS } from '../../tools/git/read/status.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { nulls, onIndexCopy } from '../../tools/git/run/index-file.ts';
import { localSettings } from '../../tools/git/run/settings.ts';
import { isTampered } from '../../tools/git/write/worktree.ts';

/** A worktree at one moment: equal pictures mean that nothing changed. Ignored files and file times are not in it. */
export interface Picture {
  head: string | null;
  /** The full ref that HEAD names; null when it is detached. */
  branch: string | null;
  /** SHA-256 of the index's entries with stages and flags, but not of the file times that git keeps there. */
  index: string;
  /** The index file itself, as an object; null when there is none. */
  index_blob: string | null;
  /** A tree of the working files: as git has them where clean, byte for byte as on disk where changed or untracked. */
  files: string;
  /** The contents that only the index has, perhaps neither committed nor in a working file. */
  staged: string[];
  /** The permissions of changed and untracked files, by their names read as latin1. */
  permissions: Record<string, number>;
  /** Submodules and repositories inside the worktree: only that they are there, and their commit. */
  repositories: string[];
  /** Merges, rebases and the like that are under way. */
  operations: string[];
  /** SHA-256 of the repository's own settings and ignore rules, which decide what git sees. */
  settings: string;
  tampered: boolean;
}

export const takePicture = async (git: GitAt<GitWorktree>): Promise<Picture> => {
  const index = await indexHash(git);
  const index_blob = await storeIndex(git);
  const working = await picturedFiles(git, index_blob?.length);
  return {
    head: (await headCommit(git)) ?? null,
    branch: (await symbolicRef(git, 'HEAD')) ?? null,
    index,
    index_blob,
    ...working,
    operations: OPERATIONS.filter((name) => existsSync(join(git.place.git_dir, name))),
    settings: await settingsOf(git),
    tampered: await isTampered(git.place),
  };
};

/** SHA-256 of what `index` of a picture says. */
export const indexHash = async (git: GitAt<GitWorktree>): Promise<string> =>
  sha256(await git.read(['ls-files', '--stage', '-v', '-z']));

const OPERATIONS = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
];

const picturedFiles = (
  git: GitAt<GitWorktree>,
  width = 40,
): Promise<Pick<Picture, 'files' | 'staged' | 'permissions' | 'repositories'>> =>
  onIndexCopy(git, async (copy) => {
    const said = await copy.read([...STATUS, '--no-renames']);
    const { files: status, staged } = parseStatus(said, 'latin1');
    const changed = status.filter((file) => !file.repository).map((file) => file.path);
    const stored = await storeFiles(git, changed);
    // A submodule in conflict has no one commit, and no tree can be made with it.
    const open = status.filter((file) => file.repository && /U|AA|DD/.test(file.code));
    const gone = [...changed, ...open.map((file) => file.path)];
    return {
      files: await treeOf(copy, replacing(gone, stored, '0'.repeat(width))),
      staged: [...new Set(staged)],
      permissions: Object.fromEntries(stored.map((file) => [file.path, file.permissions])),
      repositories: status
        .filter((file) => file.repository)
        .map((file) => `${file.code} ${file.path}`),
    };
  });

// Every changed path is taken out first, so that what was deleted is gone and a directory can follow a file.
const replacing = (
  changed: readonly string[],
  stored: readonly StoredFile[],
  nothing: string,
): string[] => [
  ...changed.map((path) => `0 ${nothing}\t${path}`),
  ...stored.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}`),
];

const treeOf = async (copy: GitAt, lines: readonly string[]): Promise<string> => {
  const input = nulls(lines);
  if (lines.length > 0) await copy.run(['update-index', '-z', '--index-info'], { input });
  return copy.text(['write-tree', '--missing-ok']);
};

const storeIndex = async (git: GitAt<GitWorktree>): Promise<string | null> => {
  const input = await readFile(join(git.place.git_dir, 'index')).catch(absent);
  return input === null ? null : git.text(['hash-object', '-w', '--stdin'], { input });
};

const settingsOf = async (git: GitAt<GitWorktree>): Promise<string> => {
  const args = ['config', '--list', '-z', '--show-scope', '--includes'];
  const stdout = await git.read(args);
  const exclude = await readFile(join(git.place.common_dir, 'info', 'exclude')).catch(absent);
  return sha256(
    JSON.stringify([localSettings(stdout.toString('latin1')), exclude?.toString('latin1') ?? null]),
  );
};

const absent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  throw new ServiceError(
    'git_failed',
    `A file of the repository cannot be read: ${error.message}`,
    { cause: error },
  );
};
