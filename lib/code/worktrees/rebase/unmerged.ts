import { existsSync } from 'node:fs';
import type { Kind } from '../../../../store/records/conflict.ts';
import { blobOf } from '../../../tools/git/read/working-files.ts';
import type { GitAt, GitWorktree } from '../../../tools/git/run/git.ts';
import { nulls, onDisk, onIndexFile } from '../../../tools/git/run/index-copy.ts';
import { utf8Path } from '../../../tools/git/run/path-text.ts';
import type { WorktreeSnapshot } from '../../snapshots/snapshot.ts';

/** One version of a file in conflict. */
interface Stage {
  mode: string;
  oid: string;
}

/** A file in conflict. In a rebase, `base` is the new base and `branch` the commit being applied. */
export interface Unmerged {
  /** Decoded as latin1 to keep every byte. */
  path: string;
  kind: Kind;
  ancestor: Stage | undefined;
  base: Stage | undefined;
  branch: Stage | undefined;
}

/** The files in conflict, in index order. Read-only. */
export const unmergedFiles = async (git: GitAt<GitWorktree>): Promise<Unmerged[]> => {
  const files = stagesIn(await git.names(LIST));
  if (files.length === 0) return [];
  const binary = await binaryFiles(git);
  return files.map((file) => ({ ...file, kind: kindOf(file, binary.has(file.path)) }));
};

/** The files that were in conflict when a snapshot was taken. */
export const unmergedIn = async (
  git: GitAt<GitWorktree>,
  { commit }: Pick<WorktreeSnapshot, 'commit'>,
): Promise<Unmerged[]> => {
  const index = await blobOf(git, `${commit}:index`);
  const lines = await onIndexFile(git, index, (copy) => copy.names(LIST));
  return stagesIn(lines).map((file) => ({ ...file, kind: kindOf(file, false) }));
};

const LIST = ['ls-files', '--unmerged', '-z'];

const stagesIn = (lines: readonly string[]): Omit<Unmerged, 'kind'>[] => {
  const files = new Map<string, Partial<Record<string, Stage>>>();
  for (const line of lines) {
    const [, mode = '', oid = '', stage = '', path = ''] =
      /^(\d+) (\S+) (\d)\t(.*)$/s.exec(line) ?? [];
    files.set(path, { ...files.get(path), [stage]: { mode, oid } });
  }
  return [...files].map(([path, { 1: ancestor, 2: base, 3: branch }]) => ({
    path,
    ancestor,
    base,
    branch,
  }));
};

const SUBMODULE = '160000';

type Stages = Pick<Unmerged, 'ancestor' | 'base' | 'branch'>;

const kindOf = ({ ancestor, base, branch }: Stages, isBinary: boolean): Kind => {
  if ([ancestor, base, branch].some((stage) => stage?.mode === SUBMODULE)) return 'submodule';
  if (base === undefined || branch === undefined) return oneSidedKind({ ancestor, base, branch });
  if (base.oid === branch.oid) return 'mode';
  if (isBinary) return 'binary';
  return ancestor ? 'both_modified' : 'both_added';
};

const oneSidedKind = ({ ancestor, base, branch }: Stages): Kind => {
  if (ancestor === undefined || base === branch) return 'renamed';
  return base === undefined ? 'deleted_in_base' : 'deleted_in_branch';
};

// By git's own rules, attributes included: `--numstat` prints dashes for a binary file.
const binaryFiles = async (git: GitAt<GitWorktree>): Promise<Set<string>> => {
  const found = new Set<string>();
  for (const side of ['--ours', '--theirs']) {
    const plain = ['--no-renames', '--no-ext-diff', '--no-textconv'];
    for (const line of await git.names(['diff', '--numstat', '-z', ...plain, side]))
      if (line.startsWith('-\t-\t')) found.add(line.slice(4));
  }
  return found;
};

/**
 * The combined diff of the conflicts. For a file that only one side has, adds that side's diff, because git only reports
 * that it is unmerged.
 */
export const conflictDiff = async (
  git: GitAt<GitWorktree>,
  files: readonly Unmerged[],
): Promise<Buffer> => {
  const parts = [await git.read(['diff', ...RAW, '--', ...namesOf(files)])];
  for (const file of files) parts.push(...(await oneSided(git, file)));
  return Buffer.concat(parts);
};

// Limit the diff to the files in conflict, unless a name is not UTF-8 or there are too many for arguments.
const namesOf = (files: readonly Unmerged[]): string[] => {
  const names = files.flatMap(({ path }) => utf8Path(path) ?? []);
  const isWhole = names.length === files.length;
  return isWhole && names.length <= MOST_NAMES ? names : [];
};

const MOST_NAMES = 500;

const RAW = ['--no-color', '--no-ext-diff', '--no-textconv', '--full-index', '--no-relative'];

const oneSided = async (git: GitAt<GitWorktree>, file: Unmerged): Promise<Buffer[]> => {
  const { path, kind, ancestor, base, branch } = file;
  const left = base ?? branch;
  if (kind === 'submodule' || left === undefined || (base && branch)) return [];
  const gone = base === undefined ? 'the base' : 'the branch';
  const here = base === undefined ? 'the branch' : 'the base';
  const words = ancestor ? `deleted in ${gone}, changed in ${here}` : `only in ${here}`;
  const head = Buffer.concat([
    Buffer.from('\n* '),
    Buffer.from(path, 'latin1'),
    Buffer.from(`: ${words}\n`),
  ]);
  if (ancestor?.oid === left.oid) return [head];
  const empty = () => git.text(['hash-object', '-w', '--stdin'], { input: '' });
  const from = ancestor?.oid ?? (await empty());
  return [head, await git.read(['diff', ...RAW, from, left.oid, '--'])];
};

/** Stages these files as they are on disk, one that is gone as deleted, and nothing else. */
export const stageConflictFiles = async (
  git: GitAt<GitWorktree>,
  files: readonly Unmerged[],
): Promise<void> => {
  const input = nulls(files.map(({ path }) => path));
  await git.run(['update-index', '--add', '--remove', '-z', '--stdin'], { input });
};

/** Whether a submodule has a commit checked out that could be staged. */
export const isCheckedOut = (worktree: GitWorktree, { path }: Unmerged): boolean =>
  existsSync(onDisk(worktree, `${path}/.git`));
