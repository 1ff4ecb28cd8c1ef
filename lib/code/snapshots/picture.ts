import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';
import { type StoredFile, storeFiles } from '../../tools/git/read/blobs.ts';
import {
  noteTree,
  type StagedIndex,
  stagedIndex,
  unlessAbsent,
} from '../../tools/git/read/index-stages.ts';
import { symbolicRef } from '../../tools/git/read/repository.ts';
import { parseStatus, STATUS } from '../../tools/git/read/status.ts';
import { entriesOfFile, settingsText } from '../../tools/git/run/config.ts';
import type { GitAt, GitWorktree, Setting } from '../../tools/git/run/git.ts';
import { localSettings } from '../../tools/git/run/hardening.ts';
import { nulls, onIndexCopy } from '../../tools/git/run/index-copy.ts';
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

/** The same without the index file, which only what is kept needs. */
export type Look = Omit<Picture, 'index_blob'>;

export const takePicture = async (git: GitAt<GitWorktree>): Promise<Look> =>
  (await takeWhole(git)).look;

interface WholeLook {
  look: Look;
  /** The bytes of the index; null where there is none. */
  index: Buffer | null;
}

/** The same with the index as it was then. */
export const takeWhole = async (git: GitAt<GitWorktree>): Promise<WholeLook> => {
  const index = await stagedIndex(git);
  const { bytes, said } = index;
  const working = await onIndexCopy(git, (copy) => workingFiles(git, copy, index), said.stages);
  const look = {
    index: sha256(said.stages),
    ...working,
    branch: (await symbolicRef(git, 'HEAD')) ?? null,
    operations: OPERATIONS.filter((name) => existsSync(join(git.place.git_dir, name))),
    settings: await settingsOf(git),
    tampered: await isTampered(git.place),
  };
  return { look, index: bytes };
};

/** SHA-256 of what `index` of a picture says. */
export const indexHash = async (git: GitAt<GitWorktree>): Promise<string> =>
  sha256((await stagedIndex(git)).said.stages);

const OPERATIONS = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
];

type WorkingFiles = Omit<Look, 'branch' | 'index' | 'operations' | 'settings' | 'tampered'>;

// What HEAD is comes with the status: starting git is what takes time.
const workingFiles = async (
  git: GitAt<GitWorktree>,
  copy: GitAt<GitWorktree>,
  index: StagedIndex,
): Promise<WorkingFiles> => {
  const {
    headers,
    files: status,
    staged,
  } = parseStatus(await copy.read([...STATUS, '--no-renames']), 'latin1');
  const changed = status.filter((file) => !file.repository).map((file) => file.path);
  const stored = await storeFiles(git, changed);
  // A submodule in conflict has no one commit, and no tree can be made with it.
  const open = status.filter((file) => file.repository && /U|AA|DD/.test(file.code));
  const gone = [...changed, ...open.map((file) => file.path)];
  const head = headers.get('branch.oid');
  return {
    head: head === undefined || head === '(initial)' ? null : head,
    files:
      status.length === 0
        ? await cleanTree(copy, index)
        : await treeOf(copy, { gone, stored, width: stored[0]?.oid.length ?? widthIn(index) }),
    staged: [...new Set(staged)],
    permissions: Object.fromEntries(stored.map((file) => [file.path, file.permissions])),
    repositories: status
      .filter((file) => file.repository)
      .map((file) => `${file.code} ${file.path}`),
  };
};

// Of a file that is gone the index has an entry.
const widthIn = ({ said }: StagedIndex): number =>
  /^\S+ \d+ ([0-9a-f]+) /.exec(said.stages.toString('latin1', 0, 100))?.[1]?.length ?? 40;

// The files are as the index has them, and that is as HEAD has them: whose tree is there.
const cleanTree = async (copy: GitAt<GitWorktree>, index: StagedIndex): Promise<string> => {
  const { tree } = index.said;
  if (tree !== undefined) return tree;
  const written = await copy.text(WRITE_TREE);
  await noteTree(copy, index, written);
  return written;
};

const WRITE_TREE = ['write-tree', '--missing-ok'];

// Every changed path is taken out first, so that what was deleted is gone and a directory can follow a file.
const treeOf = async (
  copy: GitAt,
  {
    gone,
    stored,
    width,
  }: { gone: readonly string[]; stored: readonly StoredFile[]; width: number },
): Promise<string> => {
  const nothing = '0'.repeat(width);
  const lines = [
    ...gone.map((path) => `0 ${nothing}\t${path}`),
    ...stored.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}`),
  ];
  if (lines.length > 0)
    await copy.run(['update-index', '-z', '--index-info'], { input: nulls(lines) });
  return copy.text(WRITE_TREE);
};

const settingsOf = async (git: GitAt<GitWorktree>): Promise<string> => {
  const own = plainSettings(git.place) ?? (await listedSettings(git));
  const exclude = await readFile(join(git.place.common_dir, 'info', 'exclude')).catch(unlessAbsent);
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
