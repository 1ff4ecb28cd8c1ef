import { messageOf } from '../../../store/base/attempt.ts';
import { shellQuoted } from '../../../store/base/text.ts';
import type { ConflictFile, RebaseStep, ResolvedFiles } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { changeConflict, type StoredConflict } from '../../../store/sessions/conflicts.ts';
import { leftoverMarkers, unchangedSince } from '../../code/worktrees/rebase/conflict-checks.ts';
import { toFile } from '../../code/worktrees/rebase/conflict-prompt.ts';
import { isRestoring } from '../../code/worktrees/rebase/rebase-state.ts';
import {
  isCheckedOut,
  stageConflictFiles,
  type Unmerged,
  unmergedFiles,
  unmergedIn,
} from '../../code/worktrees/rebase/unmerged.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { commitOf } from '../../tools/git/read/repository.ts';
import { unfilteredFiles } from '../../tools/git/read/required-filters.ts';
import { status } from '../../tools/git/read/status.ts';
import type { Git } from '../../tools/git/run/git.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { continueRebase, type RebaseState } from '../../tools/git/write/rebase.ts';
import { exclusively } from '../sessions/lifecycle/operation.ts';
import type { SessionNeeds, TurnNeeds } from '../sessions/live/needs.ts';
import { hasRebaseEnded, ourRebase } from './current.ts';
import { finish, finishRestoring, proceed } from './finish.ts';
import { changesInTheWay, firstFive } from './preflight.ts';

/**
 * Stages the files in conflict and continues the rebase, to its end or to the next conflicting commit. Throws 422
 * `markers_remain`, with nothing staged, while a file has markers or is as git left it, 422 `invalid_state` if the branch
 * moved since the rebase began, and 409 `uncommitted_changes` if a file needs a filter that the daemon does not run.
 */
export const applyResolution = (
  service: SessionNeeds,
  caseId: string,
  { resolved = [] }: ResolvedFiles = {},
): Promise<RebaseStep> =>
  exclusively(service, caseId, 'apply of a resolution', async (worktree) => {
    const { conflict, state } = await ourRebase(service, worktree);
    if (state === undefined) return endedByHand(service, worktree, conflict);
    const { conflicted } = conflict.matter;
    if (isRestoring(conflict) && conflicted === null) return finish(service, worktree, conflict);
    await refuseMovedBranch(service.git, worktree, conflict);
    const files = await toStage(service.git, worktree, { conflict, state, resolved });
    return stageAndContinue(service, worktree, { conflict, files, resolved });
  });

// git moves the branch at the end of the rebase, and only from the commit at which it began.
const refuseMovedBranch = async (
  git: Git,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<void> => {
  if (isRestoring(conflict)) return;
  const { branch, orig_head } = conflict.matter;
  const tip = await commitOf(git.at(worktree), `refs/heads/${branch}`);
  if (tip === orig_head) return;
  const there = `git -C ${shellQuoted(worktree.path)}`;
  const set = `${there} update-ref ${shellQuoted(`refs/heads/${branch}`)} ${orig_head}`;
  const keep = `${there} branch ${shellQuoted(`${branch}-moved`)} ${tip}`;
  const began = `but the rebase began at ${orig_head}. Send …/conflicts/abort, which`;
  throw invalidState(
    tip === undefined
      ? `The branch ${branch} is gone, ${began} creates it again. Or set it back with ${set}, and apply again.`
      : `The branch ${branch} is at ${tip}, ${began} sets it back and keeps that commit under refs/dossier/undone/. Or keep that commit on another branch and set this one back with ${keep} && ${set} ${tip}, and apply again.`,
  );
};

// The operator may have ended the rebase with git. Only what git proves counts as done.
const endedByHand = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<RebaseStep> => {
  if (await hasRebaseEnded(service.git, worktree, conflict))
    return finish(service, worktree, conflict, 'ended by hand');
  throw invalidState(
    'The rebase was ended by hand before it was complete. Send …/conflicts/abort, which closes it and restores the set-aside changes.',
  );
};

interface Stopped extends Required<ResolvedFiles> {
  conflict: StoredConflict;
  state: RebaseState;
}

const toStage = async (
  git: Git,
  worktree: WorktreeRecord,
  { conflict, state, resolved }: Stopped,
): Promise<Unmerged[]> => {
  const { conflicted, stopped, step } = conflict.matter;
  const files = await unmergedFiles(git.at(worktree));
  const isSame = stopped?.head === state.stop.head && stopped.number === state.stop.number;
  if (files.length === 0 && !isSame && step === 'interrupted') {
    throw invalidState(
      'git was in the middle of a commit when the daemon stopped, so the state of the rebase is unknown. Send …/conflicts/abort, which restores the exact state before the rebase.',
    );
  }
  // Files that were staged by hand are checked too, because `git add` accepts markers.
  const left = isSame ? conflicted : null;
  const all = left === null ? files : await unmergedIn(git.at(worktree), left);
  await refuseUnresolved(git, worktree, { files, all, left, resolved });
  // Of uncommitted changes, no commit is made: others stay as they are.
  if (isRestoring(conflict)) return files;
  await refuseOthers(git, worktree, files);
  const paths = files.map(({ path }) => path);
  await refuseUnfiltered(git, worktree, paths);
  return files;
};

// Without its filter, git sees the file as changed also once it is staged by hand. The content that git stores needs none.
const refuseUnfiltered = async (
  git: Git,
  worktree: WorktreeRecord,
  paths: readonly string[],
): Promise<void> => {
  const files = [...(await unfilteredFiles(git.at(worktree), paths))].map(pathText);
  if (files.length === 0) return;
  throw changesInTheWay(
    files,
    `cannot be staged by the daemon, which runs no filter of a repository, so nothing was staged. In ${worktree.path}, stage each file yourself, then replace it with what git stores: git add FILE && git cat-file blob :FILE > FILE. Then apply again.`,
  );
};

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
const refuseUnresolved = async (
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

// git would refuse to continue, and other files are the operator's to stage.
const refuseOthers = async (
  git: Git,
  worktree: WorktreeRecord,
  unmerged: readonly Unmerged[],
): Promise<void> => {
  const inConflict = new Set(unmerged.map((file) => toFile(file).path));
  const { files } = await status(git.at(worktree));
  const changed = files
    // A submodule stays at its commit during a rebase, and git accepts that.
    .filter(
      ({ code, path, repository }) =>
        !repository && code !== '??' && code[1] !== '.' && !inConflict.has(path),
    )
    .map(({ path }) => path);
  if (changed.length === 0) return;
  await refuseUnfiltered(git, worktree, changed);
  throw changesInTheWay(
    changed,
    `changed too, but only files in conflict are staged by this call. Stage them with git add in ${worktree.path}, or undo the changes, then apply again.`,
  );
};

const stageAndContinue = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  { conflict, files, resolved }: Omit<Stopped, 'state'> & { files: readonly Unmerged[] },
): Promise<RebaseStep> => {
  const { git, store } = service;
  const names = files.slice(0, 5).map((file) => toFile(file).path);
  const words = names.length === 0 ? 'the staged files' : names.join(', ');
  const asLeft = resolved.length === 0 ? '' : `; resolved as git left it: ${resolved.join(', ')}`;
  await changeConflict(store, conflict, { step: 'applying', line: `apply: ${words}${asLeft}` });
  try {
    if (files.length > 0) await stageConflictFiles(git.at(worktree), files);
    if (isRestoring(conflict)) return await finishRestoring(service, worktree, conflict);
    const answer = await continueRebase(git.at(worktree), conflict.matter.id);
    return await proceed(service, worktree, conflict, answer);
  } catch (error) {
    const line = `apply failed: ${messageOf(error)}`;
    await changeConflict(store, conflict, { step: 'interrupted', line });
    throw error;
  }
};
