import type { ConflictFile } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { StoredConflict } from '../../../store/sessions/conflicts.ts';
import { leftoverMarkers, unchangedSince } from '../../code/worktrees/rebase/conflict-checks.ts';
import { toFile } from '../../code/worktrees/rebase/conflict-prompt.ts';
import { isCheckedOut, type Unmerged } from '../../code/worktrees/rebase/unmerged.ts';
import { ServiceError } from '../../errors.ts';
import type { Git } from '../../tools/git/run/git.ts';
import { firstFive } from './preflight.ts';

interface Resolution {
  /** The files in conflict now. */
  files: readonly Unmerged[];
  /** Those and the files that were staged by hand since git stopped. */
  all: readonly Unmerged[];
  /** The state in which git left them; null where unknown. */
  left: StoredConflict['matter']['conflicted'];
  /** Files that the caller declares resolved as they are. */
  resolved: readonly string[];
}

interface UnresolvedFile extends ConflictFile {
  /** Lines with markers. */
  lines: number[];
}

/**
 * Throws 422 `markers_remain` while a file has markers, or is unchanged since git stopped. For many conflicts git
 * leaves one side without markers, and staging it unseen would lose the other.
 */
export const refuseUnresolved = async (
  git: Git,
  worktree: WorktreeRecord,
  resolution: Resolution,
): Promise<void> => {
  refuseUnknown(resolution);
  const kinds = new Map(resolution.all.map((file) => [toFile(file).path, file.kind]));
  const marked = (await leftoverMarkers(git.at(worktree), resolution.all)).map(
    ({ path, lines }): UnresolvedFile => ({
      path,
      kind: kinds.get(path) ?? 'both_modified',
      lines,
    }),
  );
  const names = new Set(marked.map(({ path }) => path));
  const undecided = (await undecidedFiles(git, worktree, resolution))
    .map((file): UnresolvedFile => ({ ...toFile(file), lines: [] }))
    .filter(({ path }) => !names.has(path));
  const open = [...marked, ...undecided];
  if (open.length === 0) return;
  const said = [...markerSentence(marked), ...undecidedSentence(undecided)].join(' ');
  throw new ServiceError('markers_remain', `${said} Then apply again; nothing was staged.`, {
    members: { files: open },
  });
};

const refuseUnknown = ({ all, resolved }: Resolution): void => {
  const known = new Set(all.map((file) => toFile(file).path));
  const errors = resolved.flatMap((path, at) =>
    known.has(path) ? [] : [{ path: `/resolved/${at}`, message: 'is not in conflict' }],
  );
  if (errors.length === 0) return;
  const names = resolved.filter((path) => !known.has(path)).slice(0, 5);
  throw new ServiceError(
    'bad_request',
    `${names.join(', ')} is not among the files in conflict. Use the names of …/conflicts/preview.`,
    { errors },
  );
};

const undecidedFiles = async (
  git: Git,
  worktree: WorktreeRecord,
  { files, left, resolved }: Resolution,
): Promise<Unmerged[]> => {
  const named = new Set(resolved);
  const asked = files.filter((file) => isAsked(worktree, file, named.has(toFile(file).path)));
  const [submodules, others] = [
    asked.filter(isSubmodule),
    asked.filter((each) => !isSubmodule(each)),
  ];
  const same =
    left === null
      ? others.filter(mayBeUnmarked)
      : await unchangedSince(git.at(worktree), left, others);
  return [...submodules, ...same];
};

const isSubmodule = ({ kind }: Unmerged): boolean => kind === 'submodule';

// For text git leaves both sides, with markers.
const mayBeUnmarked = ({ kind }: Unmerged): boolean =>
  kind !== 'both_modified' && kind !== 'both_added';

// A file that neither side has is gone in any case. A submodule that is not checked out has no commit to stage.
const isAsked = (worktree: WorktreeRecord, file: Unmerged, isNamed: boolean): boolean => {
  if (isSubmodule(file) && !isCheckedOut(worktree, file)) return true;
  return !isNamed && (file.base !== undefined || file.branch !== undefined);
};

const markerSentence = (files: readonly UnresolvedFile[]): string[] => {
  if (files.length === 0) return [];
  const names = files.map(({ path, lines }) => `${path} (line ${lines.join(', ')})`);
  return [`Conflict markers remain in ${firstFive(names)}. Resolve them.`];
};

const undecidedSentence = (files: readonly UnresolvedFile[]): string[] => {
  if (files.length === 0) return [];
  const names = files.map(({ path, kind }) => `${path} (${kind})`);
  const advice = files.some(({ kind }) => kind === 'submodule') ? [SUBMODULE] : [];
  return [
    `Not resolved: ${firstFive(names)}. git left one side there, without markers. Change or delete the file, stage it (git add, git rm), or name it in "resolved" if it is correct.`,
    ...advice,
  ];
};

const SUBMODULE =
  'For a submodule, choose the commit with git update-index --cacheinfo 160000,<commit>,<path>.';
