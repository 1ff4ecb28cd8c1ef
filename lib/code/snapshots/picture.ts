import { existsSync, lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import type { Pictured } from '../../../store/records/baseline.ts';
import { type StoredFile, storeFiles } from '../../tools/git/read/blobs.ts';
import { filesHidingText } from '../../tools/git/read/ident-texts.ts';
import {
  noteTree,
  type StagedIndex,
  stagedIndex,
  unlessAbsent,
} from '../../tools/git/read/index-stages.ts';
import { symbolicRef } from '../../tools/git/read/repository.ts';
import { type FileStatus, readStatus } from '../../tools/git/read/status.ts';
import { ownEntries, plainEntries, settingsText } from '../../tools/git/run/config.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { nulls, onDisk, onIndexCopy } from '../../tools/git/run/index-copy.ts';
import { isTampered } from '../../tools/git/write/worktree.ts';

/** A picture without what is only needed to keep it. */
export type Look = Omit<Pictured, 'index_blob' | 'git_files'>;

export const takePicture = async (git: GitAt<GitWorktree>): Promise<Look> =>
  (await takeWhole(git)).look;

interface WholeLook {
  look: Look;
  /** The bytes of the index; null if there is none. */
  index: Buffer | null;
}

/** Takes a picture together with the bytes of the index. */
export const takeWhole = async (git: GitAt<GitWorktree>): Promise<WholeLook> => {
  const index = await stagedIndex(git);
  const { bytes, said } = index;
  const working = await onIndexCopy(git, said.stages, (copy) => workingFiles(git, copy, index));
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

/** Whether entries, stages or flags of the index differ from a picture. */
export const indexDiffers = async (
  git: GitAt<GitWorktree>,
  { index }: Pick<Pictured, 'index'>,
): Promise<boolean> => sha256((await stagedIndex(git)).said.stages) !== index;

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

// HEAD is read from the status output, to save a git process.
const workingFiles = async (
  git: GitAt<GitWorktree>,
  copy: GitAt<GitWorktree>,
  index: StagedIndex,
): Promise<WorkingFiles> => {
  const { head, files: status, staged } = await readStatus(copy);
  // git reports a file with hidden text as clean.
  const hiding = await filesHidingText(copy);
  const reported = status.filter((file) => isFile(git.place, file)).map((file) => file.path);
  const changed = [...new Set([...reported, ...hiding])];
  const stored = await storeFiles(git, changed);
  // A submodule in conflict has several commits, and `write-tree` rejects it.
  const open = status.filter((file) => file.repository && /U|AA|DD/.test(file.code));
  const gone = [...changed, ...open.map((file) => file.path)];
  return {
    head,
    files:
      status.length + hiding.length === 0
        ? await cleanTree(copy, index)
        : await treeOf(copy, { gone, stored, width: stored[0]?.oid.length ?? widthIn(index) }),
    staged: [...new Set(staged)],
    permissions: Object.fromEntries(stored.map((file) => [file.path, file.permissions])),
    repositories: status
      .filter((file) => file.repository)
      .map((file) => `${file.code} ${file.path}`),
  };
};

// A file or link in the place of a submodule is one, too.
const isFile = (worktree: GitWorktree, { repository, code, path }: FileStatus): boolean =>
  !repository ||
  (code === '.T' && orElse(() => !lstatSync(onDisk(worktree, path)).isDirectory(), false));

// Without stored files, the id length is taken from an index entry.
const widthIn = ({ said }: StagedIndex): number =>
  /^\S+ \d+ ([0-9a-f]+) /.exec(said.stages.toString('latin1', 0, 100))?.[1]?.length ?? 40;

// All files are clean, so the tree of the index is the tree of the files.
const cleanTree = async (copy: GitAt<GitWorktree>, index: StagedIndex): Promise<string> => {
  const { tree } = index.said;
  if (tree !== undefined) return tree;
  const written = await copy.text(WRITE_TREE);
  await noteTree(copy, index, written);
  return written;
};

const WRITE_TREE = ['write-tree', '--missing-ok'];

// Changed paths are removed first: deleted files stay out, and a directory can replace a file.
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

/** A tree without these latin1 paths. */
export const treeWithout = (
  git: GitAt<GitWorktree>,
  tree: string,
  paths: readonly string[],
): Promise<string> =>
  onIndexCopy(git, Buffer.alloc(0), async (copy) => {
    await copy.run(['read-tree', tree]);
    return treeOf(copy, { gone: paths, stored: [], width: tree.length });
  });

const settingsOf = async (git: GitAt<GitWorktree>): Promise<string> => {
  const entries = plainEntries([settingsText(git.place)]) ?? (await ownEntries(git));
  const own = entries.map(({ key, value = '' }) => [key, value]);
  const exclude = await readFile(join(git.place.common_dir, 'info', 'exclude')).catch(unlessAbsent);
  return sha256(JSON.stringify([own, exclude?.toString('latin1') ?? null]));
};
