import { randomUUID } from 'node:crypto';
import type { Pictured } from '../../../store/records/baseline.ts';
import { ServiceError } from '../../errors.ts';
import { blobId } from '../../tools/git/read/blobs.ts';
import { PATCH } from '../../tools/git/read/diff.ts';
import { RAW, rawChanges } from '../../tools/git/read/raw-diff.ts';
import type { FileBefore } from '../../tools/git/read/working-files.ts';
import type { Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { withTextAttributes } from '../../tools/git/run/text-attributes.ts';
import { commitAt } from '../../tools/git/write/commit.ts';
import { gitFilesIn } from '../../tools/git/write/git-files.ts';
import { refOwner } from './kept-refs.ts';
import { type Look, takePicture, takeWhole, treeWithout } from './picture.ts';

/** A picture whose objects are kept under a ref. Plain data that can be written to a file. */
export interface WorktreeSnapshot extends Pictured {
  ref: string;
  commit: string;
}

interface FileChange {
  path: string;
  change: 'added' | 'modified' | 'deleted';
}

export interface Comparison {
  /** Whether anything but the settings changed. The operator may change settings of the shared repository. */
  changed: boolean;
  head: boolean;
  branch: boolean;
  index: boolean;
  operations: boolean;
  repositories: boolean;
  tampered: boolean;
  settings: boolean;
  files: FileChange[];
}

/** Keeps the exact state of a worktree under a ref: HEAD, branch, index and working files, untracked ones included. */
export const snapshot = (
  git: Git,
  worktree: GitWorktree,
  kind: Kind = 'snapshots',
): Promise<WorktreeSnapshot> => git.turn(worktree, (now) => keepPicture(now, kind));

type Kind = 'snapshots' | 'undone' | 'conflicted';

/** Reads a snapshot from its commit, whose message holds the picture as JSON. 502 `git_failed` if it is gone. */
export const readWorktreeSnapshot = async (
  git: GitAt<GitWorktree>,
  { ref, commit }: Pick<WorktreeSnapshot, 'ref' | 'commit'>,
): Promise<WorktreeSnapshot> => ({ ...(await readPicture(git, commit)), ref, commit });

/** Reads the picture in a snapshot's commit. Untrusted: programs that can write the repository can forge it. */
export const readPicture = async (git: GitAt, commit: string): Promise<Pictured> => {
  const [, , ...picture] = (await git.text(['cat-file', 'commit', commit])).split('\n\n');
  return JSON.parse(picture.join('\n\n')) as Pictured;
};

/** Deletes the ref of a snapshot, or of changes set aside; `git gc` removes its objects later. */
export const dropSnapshot = async (
  git: GitAt<GitWorktree>,
  { ref }: Pick<WorktreeSnapshot, 'ref'>,
): Promise<void> => {
  await git.run(['update-ref', '-d', ref]);
};

/** Compares the worktree with a snapshot. Read-only. */
export const compareSnapshot = async (
  git: GitAt<GitWorktree>,
  before: WorktreeSnapshot,
): Promise<Comparison> => {
  try {
    return await difference(git, { before, after: await takePicture(git) });
  } catch (error) {
    // git would read another repository, so only the tampering itself can be reported.
    if (error instanceof ServiceError && error.code === 'worktree_tampered') return TAMPERED;
    throw error;
  }
};

const TAMPERED: Comparison = {
  changed: true,
  head: false,
  branch: false,
  index: false,
  operations: false,
  repositories: false,
  tampered: true,
  settings: false,
  files: [],
};

/** Takes a picture and keeps it under `refs/dossier/<kind>/<id>`. Call it under the git lock. */
export const keepPicture = async (
  git: GitAt<GitWorktree>,
  kind: Kind,
): Promise<WorktreeSnapshot> => {
  const { look, index } = await takeWhole(git);
  const idOf = (content: Buffer): string => blobId(content, look.files.length);
  const beside = gitFilesIn(git.place);
  const picture = {
    ...look,
    index_blob: index === null ? null : idOf(index),
    git_files: Object.fromEntries(beside.map(([name, content]) => [name, idOf(content)])),
  };
  const { files, index_blob, head, git_files } = picture;
  const ref = `refs/dossier/${kind}/${refOwner(git.place)}${randomUUID()}`;
  const commit = await commitAt(git, {
    ref,
    parents: head === null ? [] : [head],
    message: `dossier: ${kind}\n\n${JSON.stringify(picture)}\n`,
    contents: [...(index === null ? [] : [index]), ...beside.map(([, content]) => content)],
    entries: [
      `M 040000 ${files} files`,
      ...(index_blob === null ? [] : [`M 100644 ${index_blob} index`]),
      ...(await stagedEntry(git, picture)),
      ...Object.entries(git_files).map(([name, oid]) => `M 100644 ${oid} git-files/${name}`),
    ],
  });
  return { ...picture, ref, commit };
};

// `--missing`: in a partial clone, objects may be absent.
const stagedEntry = async (git: GitAt, { staged }: Look): Promise<string[]> => {
  if (staged.length === 0) return [];
  const input = staged.map((oid) => `100644 blob ${oid}\t${oid}\0`).join('');
  return [`M 040000 ${await git.text(['mktree', '-z', '--missing'], { input })} staged`];
};

/** Two pictures of one worktree. */
export interface Pair {
  before: Look;
  after: Look;
}

type FilesPair = Record<keyof Pair, Pick<Look, 'files'>>;

/** Compares two pictures of one worktree. */
export const difference = async (
  git: GitAt<GitWorktree>,
  { before, after }: Pair,
): Promise<Comparison> => {
  const parts = {
    head: before.head !== after.head,
    branch: before.branch !== after.branch,
    index: before.index !== after.index,
    operations: before.operations.join() !== after.operations.join(),
    repositories: before.repositories.join('\0') !== after.repositories.join('\0'),
    tampered: after.tampered && !before.tampered,
  };
  const files = (await changedFiles(git, { before, after })).map(toChange);
  const changed = files.length > 0 || Object.values(parts).includes(true);
  return { changed, ...parts, settings: before.settings !== after.settings, files };
};

/** The working files that differ between two pictures, with mode and object of the first. */
export const changedFiles = async (
  git: GitAt<GitWorktree>,
  { before, after }: FilesPair,
): Promise<FileBefore[]> => {
  if (before.files === after.files) return [];
  const found = rawChanges(await git.names(['diff-tree', ...RAW, before.files, after.files, '--']));
  return found.map(({ path, letter, before }) => ({ path, letter, ...before }));
};

const PATCH_BYTES = 512 * 1024 * 1024;

/** A patch from the files of the first picture to those of the second, without the new ones that `isLeftOut` names. */
export const patchBetween = async (
  git: GitAt<GitWorktree>,
  { before, after }: FilesPair,
  isLeftOut: (path: string) => boolean = () => false,
): Promise<Buffer> => {
  const files = await changedFiles(git, { before, after });
  const left = files.filter(({ letter, path }) => letter === 'A' && isLeftOut(path));
  const paths = left.map(({ path }) => path);
  const tree = paths.length === 0 ? after.files : await treeWithout(git, after.files, paths);
  const args = ['diff-tree', '-r', ...PATCH, before.files, tree, '--'];
  return withTextAttributes(git, (plain) => plain.read(args, { max_bytes: PATCH_BYTES }));
};

const CHANGES: Readonly<Record<string, FileChange['change']>> = { A: 'added', D: 'deleted' };

const toChange = ({ path, letter }: FileBefore): FileChange => ({
  path: pathText(path),
  change: CHANGES[letter] ?? 'modified',
});
