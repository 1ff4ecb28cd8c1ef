import { join } from 'node:path';
import { timeName } from '../../../../store/base/names.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import type { RecoveryNote } from '../../../../store/records/recovery.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import { keepRecovered, removeRecovered } from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import type { WithLog } from '../../../log.ts';
import { oneLine } from '../../../text/wording.ts';
import { diffInto, withheldFiles } from '../../../tools/git/read/diff.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';
import { dropRefs, refOwner } from '../../snapshots/kept-refs.ts';
import { saveRecoveredWork } from '../../snapshots/recovered.ts';
import { dropSnapshot, snapshot, type WorktreeSnapshot } from '../../snapshots/snapshot.ts';

/** The prefix of the ref names of a Work item's recoveries. */
export const recoveryPrefix = (case_id: string): string => refOwner({ case_id });

/**
 * Saves a worktree under a ref: a commit on top of its HEAD with its files (`files/`, untracked ones included), the index
 * and the data for a restore. Ignored files are not included.
 */
export const keepWorktreeState = async (
  service: WithGit & WithLog & WithStore,
  record: WorktreeRecord,
): Promise<KeptWork> => {
  const { git } = service;
  const state = await snapshot(git, record);
  const ref = await keepNoted(service, record, { head: state.head, state });
  await dropSnapshot(git.at(record), state);
  return { ref, state };
};

export interface KeptWork {
  ref: string;
  state: WorktreeSnapshot;
  /** Relative to the workspace. */
  patch?: string | undefined;
}

/** Saves the commits of a worktree whose directory is missing. */
export const keepCommits = (
  service: WithGit & WithLog & WithStore,
  record: WorktreeRecord,
  head: string,
): Promise<string> => keepNoted(service, record, { head });

const keepNoted = async (
  { git, log, store }: WithGit & WithLog & WithStore,
  record: WorktreeRecord,
  { head, state }: { head: string | null; state?: WorktreeSnapshot },
): Promise<string> => {
  const { case_id, repository, branch, base, base_commit } = record;
  const now = store.clock();
  const note: RecoveryNote = {
    case_id,
    branch,
    base,
    base_commit,
    created_at: now.toISOString(),
    picture: state === undefined ? null : pictureOf(state),
  };
  const name = `${recoveryPrefix(case_id)}${timeName(now)}`;
  const kept = { name, head, note, ...(state !== undefined && { state }) };
  const ref = await saveRecoveredWork(git, record, kept);
  log.info({ case_id, repository, ref }, 'work of a removed worktree saved');
  return ref;
};

const pictureOf = ({ ref: _ref, commit: _commit, ...picture }: WorktreeSnapshot) => picture;

/**
 * Writes the diff of the worktree against its base as a patch beside the Work item's records, with an explanation. Returns its
 * path.
 */
export const keepPatch = async (
  service: WithGit & WithStore,
  record: WorktreeRecord,
  ref: string,
): Promise<string | undefined> => {
  const { store, git } = service;
  const dir = itemOf(store, record.case_id)?.dir;
  if (dir === undefined) return;
  const name = `${recoveryId(record.case_id, ref)}.patch`;
  const against = { base: record.base_commit, copied: record.setup?.copied };
  const withheld = (await withheldFiles(git.at(record), against)).map(pathText);
  const head = headOfPatch(record, ref, withheld);
  const write = (into: number) => diffInto(git.at(record), against, into);
  if (await keepRecovered(store, dir, { name, head, write })) return join(dir, 'recovered', name);
  throw new ServiceError(
    'file_busy',
    `${dir}/recovered/${name} already exists. Nothing was removed: try again.`,
  );
};

/**
 * Deletes what was saved of a worktree that was not removed after all, so that each try does not leave a recovery. If that
 * fails, the recovery stays.
 */
export const dropKeptWork = async (
  { git, log, store }: WithGit & WithLog & WithStore,
  record: WorktreeRecord,
  { ref, patch }: KeptWork,
): Promise<void> => {
  const { case_id } = record;
  try {
    if (patch !== undefined) await removeRecovered(store, patch);
    await dropRefs(git.at(record), ref);
  } catch (error) {
    log.warn({ err: error, case_id, ref }, 'deleting the work of a worktree that stays failed');
  }
};

/** The id of a recovery: the time at which its worktree was removed. */
export const recoveryId = (caseId: string, name: string): string =>
  name.slice(name.lastIndexOf('/') + 1 + recoveryPrefix(caseId).length);

// `git apply` skips everything before the first `diff` line.
const headOfPatch = (
  { case_id, branch, base_commit, repository }: WorktreeRecord,
  ref: string,
  withheld: readonly string[],
): string =>
  `Content of the worktree that was removed with force, ${recoveryId(case_id, ref)}.
Branch: ${branch}
Base: ${base_commit}
Everything, commits included, is saved under ${ref}
in ${repository}: the commits are ${ref}^, and
  git diff ${base_commit} ${ref}:files
prints this patch again. To apply it on the base commit, pass this file to git apply.
${withheld.length === 0 ? '' : `Only there, because they are named like files with secrets or were copied from your checkout: ${withheld.map(oneLine).join(', ')}\n`}POST /api/worktrees/${case_id}/recoveries/${recoveryId(case_id, ref)}/restore creates the worktree again.

`;
