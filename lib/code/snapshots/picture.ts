import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../../base/sha256.ts';
import { ServiceError } from '../../errors.ts';
import { type StoredFile, storeWith } from '../../tools/git/read/blobs.ts';
import { symbolicRef } from '../../tools/git/read/repository.ts';
import { parseStatus, STATUS } from '../../tools/git/read/status.ts';
import { entriesOfFile } from '../../tools/git/run/config-file.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { nulls, onIndexCopy } from '../../tools/git/run/index-file.ts';
import { localSettings, type Setting } from '../../tools/git/run/settings.ts';
import { settingsText } from '../../tools/git/run/settings-files.ts';
import { type GitFiles, gitFilesIn } from '../../tools/git/write/git-files.ts';
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
  const { git_files: _, ...picture } = await takeWhole(git, []);
  return picture;
};

interface WholePicture extends Picture {
  git_files: GitFiles;
}

/** A picture, and the files that git keeps beside HEAD and the index as objects, where they are there. */
export const takeWhole = async (
  git: GitAt<GitWorktree>,
  beside: readonly string[] = gitFilesIn(git.place),
): Promise<WholePicture> => {
  const stages = await git.read(STAGES);
  const working = await picturedFiles(git, { stages, beside });
  return {
    index: sha256(stages),
    ...working,
    branch: (await symbolicRef(git, 'HEAD')) ?? null,
    operations: OPERATIONS.filter((name) => existsSync(join(git.place.git_dir, name))),
    settings: await settingsOf(git),
    tampered: await isTampered(git.place),
  };
};

const STAGES = ['ls-files', '--stage', '-v', '-z'];

/** SHA-256 of what `index` of a picture says. */
export const indexHash = async (git: GitAt<GitWorktree>): Promise<string> =>
  sha256(await git.read(STAGES));

const OPERATIONS = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
];

type PicturedFiles = Omit<
  WholePicture,
  'branch' | 'index' | 'operations' | 'settings' | 'tampered'
>;

// All that is stored is stored by one process, and what HEAD is comes with the status: starting git is what takes time.
const picturedFiles = async (
  git: GitAt<GitWorktree>,
  { stages, beside }: { stages: Buffer; beside: readonly string[] },
): Promise<PicturedFiles> => {
  const { git_dir } = git.place;
  const bytes = await readFile(join(git_dir, 'index')).catch(absent);
  const look = async (copy: GitAt<GitWorktree>): Promise<PicturedFiles> => {
    const said = await copy.read([...STATUS, '--no-renames']);
    const { headers, files: status, staged } = parseStatus(said, 'latin1');
    const changed = status.filter((file) => !file.repository).map((file) => file.path);
    const {
      oids: [index_blob = null],
      files: [stored = [], of_git = []],
    } = await storeWith(git, bytes === null ? [] : [bytes], [
      { from: git.place, paths: changed },
      { from: { path: git_dir }, paths: beside },
    ]);
    // A submodule in conflict has no one commit, and no tree can be made with it.
    const open = status.filter((file) => file.repository && /U|AA|DD/.test(file.code));
    const gone = [...changed, ...open.map((file) => file.path)];
    const head = headers.get('branch.oid');
    return {
      head: head === undefined || head === '(initial)' ? null : head,
      index_blob,
      files: await treeOf(copy, replacing(gone, stored, '0'.repeat(index_blob?.length ?? 40))),
      staged: [...new Set(staged)],
      permissions: Object.fromEntries(stored.map((file) => [file.path, file.permissions])),
      repositories: status
        .filter((file) => file.repository)
        .map((file) => `${file.code} ${file.path}`),
      git_files: Object.fromEntries(of_git.map(({ path, oid }) => [path, oid])),
    };
  };
  return onIndexCopy(git, look, stages);
};

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

const settingsOf = async (git: GitAt<GitWorktree>): Promise<string> => {
  const own = plainSettings(git.place) ?? (await listedSettings(git));
  const exclude = await readFile(join(git.place.common_dir, 'info', 'exclude')).catch(absent);
  return sha256(JSON.stringify([own, exclude?.toString('latin1') ?? null]));
};

// Mostly they are in two files, and name no others.
const plainSettings = (place: GitWorktree): Setting[] | undefined => {
  const entries = entriesOfFile(settingsText(place) ?? '[');
  if (entries?.some(({ key }) => key.startsWith('include'))) return undefined;
  return entries?.map(({ key, value = '' }) => [key, value]);
};

const listedSettings = async (git: GitAt<GitWorktree>): Promise<Setting[]> => {
  const args = ['config', '--list', '-z', '--show-scope', '--includes'];
  return localSettings((await git.read(args)).toString('latin1'));
};

const absent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  throw new ServiceError(
    'git_failed',
    `A file of the repository cannot be read: ${error.message}`,
    { cause: error },
  );
};
