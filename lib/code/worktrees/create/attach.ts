import { isAbsolute } from 'node:path';
import { lockOn } from '../../../../store/base/locks.ts';
import { isAtOrBelow, overlap } from '../../../../store/base/paths.ts';
import { trustCommandFor } from '../../../../store/base/text.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { settingsOf } from '../../../../store/settings/globals.ts';
import { readyToWrite, type WithStore } from '../../../../store/store.ts';
import {
  realDirectory,
  withWorktreeLock,
  worktreeRecords,
} from '../../../../store/worktrees/worktrees.ts';
import { badField, ServiceError } from '../../../errors.ts';
import { isBaseWaiting } from '../../../guard/trust/require.ts';
import { chooseBase } from '../../../tools/git/read/base.ts';
import {
  currentBranch,
  findRepository,
  type Repository,
} from '../../../tools/git/read/repository.ts';
import type { Git, WithGit } from '../../../tools/git/run/git.ts';
import { listWorktrees } from '../../../tools/git/write/worktree.ts';
import { findProjectRepository, getItem, type ProjectNeeds } from '../../projects/project.ts';
import { worktreeConfig } from '../config.ts';
import type { WithSetups } from '../needs.ts';
import {
  keepWorktree,
  requireNoWorktree,
  requireUnlocked,
  worktreeOfRepeatedCall,
} from '../read.ts';
import { startOf } from './create.ts';
import { caseIdOfLockReason } from './names.ts';

interface Attachment {
  path: string;
  base?: string;
}

/**
 * Attaches a directory of the operator as the worktree of a Work item: a git work tree on a branch, not used by another
 * Work item and not the checkout of a project. The directory is never changed or deleted, only detached.
 */
export const attachWorktree = async (
  service: ProjectNeeds & WithSetups,
  caseId: string,
  wanted: Attachment,
): Promise<WorktreeRecord> => {
  const item = await getItem(service.store, caseId);
  if (!isAbsolute(wanted.path)) throw badPath('must be absolute');
  // The lock ensures that only one of two Work items gets the same directory.
  return service.store.locks.take(lockOn.attach(), () =>
    withWorktreeLock(service.store, caseId, () => attach(service, item, wanted)),
  );
};

const badPath = (message: string): ServiceError =>
  badField('/path', message, `The path ${message}.`);

const attach = async (
  service: ProjectNeeds & WithSetups,
  item: Case,
  { path, base }: Attachment,
): Promise<WorktreeRecord> => {
  const { store, git } = service;
  const made = worktreeOfRepeatedCall(store, item.id);
  if (made?.attached === true && made.path === (await workTreeAt(git, path)).root) return made;
  requireNoWorktree(store, item.id);
  requireUnlocked(service, item.id);
  await readyToWrite(store);
  const repository = await workTreeAt(git, path);
  const { root, git_dir, common_dir } = repository;
  await refuseOthers(service, repository);
  await refuseCheckouts(service, repository);
  const branch = await currentBranch(git.at(repository));
  if (branch === undefined)
    throw refused(`HEAD is detached in ${root}. Check out a branch there, then try again`);
  if (base === undefined && isBaseWaiting(store))
    throw refused(
      `worktrees.base_branch waits for trust. Run ${trustCommandFor(store.layout)}, or name the base`,
    );
  const { base_branch } = worktreeConfig(store);
  const project = await findProjectRepository(service, item.project);
  // A linked worktree begins where the project's own do; a clone knows only its own branches.
  const from = project?.common_dir === common_dir ? project : repository;
  const start = await chooseBase(git.at(from), base ?? base_branch ?? undefined);
  const record: WorktreeRecord = {
    case_id: item.id,
    path: root,
    branch,
    base: start.name,
    base_commit: await startOf(git.at({ path: root, git_dir, common_dir }), start.commit),
    attached: true,
    created_at: store.clock().toISOString(),
    repository: root,
    git_dir,
    common_dir,
  };
  await keepWorktree(store, record);
  return record;
};

const refused = (why: string): ServiceError => new ServiceError('not_a_worktree', `${why}.`);

const workTreeAt = async (git: Git, path: string): Promise<Repository> => {
  const real = realDirectory(path);
  if (real === undefined) throw refused(`${path} is not a directory`);
  const found = await findRepository(git, real);
  if (found === undefined) throw refused(`${real} is not in a git repository`);
  if (found.bare) throw refused(`${real} is a bare repository, without a work tree`);
  if (found.root !== real)
    throw refused(`${real} is inside the work tree ${found.root}: attach that directory instead`);
  return found;
};

// Two sessions in one directory would undo each other's work; in the workspace, records would count as work.
const refuseOthers = async (
  { store, git }: WithGit & WithStore,
  { root, ...place }: Repository,
): Promise<void> => {
  const workspace = store.layout.root;
  for (const { case_id, record } of worktreeRecords(store)) {
    if (record !== undefined && overlap(root, record.path))
      throw refused(
        `${root} overlaps the worktree of the Work item ${case_id}. Attach another directory`,
      );
  }
  if (isAtOrBelow(root, workspace))
    throw refused(`${root} is in the workspace. Attach a directory outside of it`);
  if (isAtOrBelow(workspace, root))
    throw refused(`The workspace is in ${root}. Attach a directory that does not contain it`);
  const listed = await listWorktrees(git.at(place));
  const reason = listed.find((entry) => entry.path === root)?.locked ?? '';
  const owner = caseIdOfLockReason(reason);
  if (owner !== undefined)
    throw refused(
      `${root} was created for the Work item ${owner}: POST /api/worktrees uses it again for that Work item`,
    );
};

/** Refuses the checkout of a project, so that an agent never works in the operator's checkout. */
const refuseCheckouts = async (service: ProjectNeeds, repository: Repository): Promise<void> => {
  const { root, git_dir, common_dir } = repository;
  const { projects = {} } = settingsOf(service.store);
  for (const name of new Set(['default', ...Object.keys(projects)])) {
    const main = await findProjectRepository(service, name);
    if (main === undefined) continue;
    const isMain = git_dir === common_dir && common_dir === main.common_dir;
    if (isMain || main.root === root) {
      throw refused(
        `${root} is the checkout of the project ${name}, which sessions must not change. Create a worktree of it: git worktree add`,
      );
    }
    if (isAtOrBelow(main.root, root))
      throw refused(`${main.root}, of the project ${name}, is inside ${root}`);
  }
};
