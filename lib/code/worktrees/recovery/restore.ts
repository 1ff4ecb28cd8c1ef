import type { Case } from '../../../../store/records/case.ts';
import type { RecoveryNote } from '../../../../store/records/recovery.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { readyToWrite, type WithStore } from '../../../../store/store.ts';
import { pathKind, withWorktreeLock } from '../../../../store/worktrees/worktrees.ts';
import { afterDone, invalidState, ServiceError } from '../../../errors.ts';
import { commitOf, type Repository } from '../../../tools/git/read/repository.ts';
import type { Git, GitWorktree, WithGit } from '../../../tools/git/run/git.ts';
import { putGitFiles } from '../../../tools/git/write/git-files.ts';
import { listWorktrees } from '../../../tools/git/write/worktree.ts';
import type { ProjectNeeds } from '../../projects/project.ts';
import { refuseUnsafeTree } from '../../snapshots/recovered.ts';
import { putInto } from '../../snapshots/restore.ts';
import { addWorktreeDurably, worktreePath } from '../create/create.ts';
import { lockReason } from '../create/names.ts';
import type { WithSetups } from '../needs.ts';
import {
  keepWorktree,
  requireNoWorktree,
  requireUnlocked,
  worktreeOfRepeatedCall,
} from '../read.ts';
import { endWorktreeChange, finishInterruptedChange } from './changes.ts';
import { noteOfState } from './kept-states.ts';
import { type FoundRecovery, findRecovery } from './recoveries.ts';
import { syncAll } from './sync-work.ts';

/**
 * Recreates the worktree of a Work item from a recovery: commits, index and files, byte for byte. Uses its former branch
 * if that still points to the same commit or is gone, else creates a new one. The recovery is kept.
 */
export const restoreWorktree = (
  service: ProjectNeeds & WithSetups,
  caseId: string,
  id: string,
): Promise<WorktreeRecord> =>
  withWorktreeLock(service.store, caseId, async () => {
    const found = await findRecovery(service, caseId, id);
    const { recovery, repository, item } = found;
    await finishInterruptedChange(service, caseId);
    const made = worktreeOfRepeatedCall(service.store, caseId);
    if (made?.attached === false) return made;
    requireNoWorktree(service.store, caseId);
    requireUnlocked(service, caseId);
    const { head } = recovery;
    const note = recovery.restorable ? await noteFor(service, found) : undefined;
    if (note === undefined || head === null) throw invalidState(recovery.detail ?? '');
    await readyToWrite(service.store);
    if (note.picture !== null)
      await refuseUnsafeTree(service.git.at(repository), note.picture.files);
    return make(service, { note, head, repository, item });
  });

const noteFor = async (
  service: WithGit & WithStore,
  { item, note, state, repository }: FoundRecovery,
): Promise<RecoveryNote | undefined> =>
  state === undefined ? note : noteOfState(service, item, { state, repository });

interface Kept {
  note: RecoveryNote;
  head: string;
  repository: Repository;
  item: Case;
}

const make = async (service: ProjectNeeds, kept: Kept): Promise<WorktreeRecord> => {
  const { note, head, repository, item } = kept;
  const { git, store } = service;
  const { case_id, base, base_commit } = note;
  const path = worktreePath(store, item);
  if (pathKind(path) !== 'nothing') {
    throw new ServiceError(
      'already_exists',
      `${path} already exists. Move it away, then try again.`,
    );
  }
  const branch = await branchFor(git, kept);
  const planned = { repository, path, branch, base: head, reason: lockReason(case_id) };
  const worktree = await addWorktreeDurably(service, case_id, planned);
  const record: WorktreeRecord = {
    case_id,
    path,
    branch,
    base,
    base_commit,
    attached: false,
    created_at: store.clock().toISOString(),
    repository: repository.root,
    git_dir: worktree.git_dir,
    common_dir: worktree.common_dir,
  };
  // The record is saved last: after a crash the next start removes the incomplete worktree. If filling it fails, it can be
  // inspected. The recovery still exists.
  try {
    const { picture } = note;
    const done = `the worktree ${path} was created, and may be incomplete. The recovery still exists: remove the worktree with force, then restore again`;
    if (picture !== null)
      await afterDone(done, async () => {
        await fill(git, worktree, { ...picture, branch });
        await syncAll(service, worktree);
      });
  } finally {
    await keepWorktree(store, record);
    await endWorktreeChange(store, case_id);
  }
  return record;
};

const fill = async (
  git: Git,
  worktree: GitWorktree,
  picture: NonNullable<RecoveryNote['picture']> & { branch: string },
): Promise<void> => {
  const before = { ...picture, branch: `refs/heads/${picture.branch}` };
  const left = await putInto(git, worktree, before);
  if (picture.git_files !== undefined) await putGitFiles(git.at(worktree), picture.git_files);
  const differing = left.files.map(({ path }) => path);
  if (differing.length === 0) return;
  throw new ServiceError(
    'git_failed',
    `These files differ from the recovery: ${differing.slice(0, 10).join(', ')}.`,
  );
};

// The branch may have been merged, moved, deleted or checked out elsewhere since; never reset it.
const branchFor = async (git: Git, { note, head, repository }: Kept): Promise<string> => {
  const former = note.picture?.branch?.replace(/^refs\/heads\//, '') ?? note.branch;
  const taken = new Set((await listWorktrees(git.at(repository))).map(({ branch }) => branch));
  const fits = async (name: string): Promise<boolean> => {
    if (taken.has(name)) return false;
    const at = await commitOf(git.at(repository), `refs/heads/${name}`);
    return at === undefined || at === head;
  };
  for (let number = 0; ; number += 1) {
    const suffix = number === 0 ? '' : `-recovered${number === 1 ? '' : `-${number}`}`;
    if (await fits(`${former}${suffix}`)) return `${former}${suffix}`;
  }
};
