import { isAtOrBelow, overlap } from '../../../../store/base/paths.ts';
import { shellQuoted } from '../../../../store/base/text.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WorktreeIsolation } from '../../../../store/records/worktree-status.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { worktreeRecords } from '../../../../store/worktrees/worktrees.ts';
import { currentBranch, type Repository } from '../../../tools/git/read/repository.ts';
import type { Git, WithGit } from '../../../tools/git/run/git.ts';
import { listWorktrees } from '../../../tools/git/write/worktree.ts';
import { findProjectRepository, getItem, type ProjectNeeds } from '../../projects/project.ts';
import { worktreeConfig } from '../config.ts';
import { lockReason } from '../create/names.ts';
import { getWorktree } from '../read.ts';
import { adviceFor, stateOf } from './status.ts';

type Check = WorktreeIsolation['checks'][number];
type Listed = Awaited<ReturnType<typeof listWorktrees>>;

/** Checks that work in the worktree cannot affect the main branch, the main checkout or other Work items. */
export const verifyIsolation = async (
  service: ProjectNeeds,
  caseId: string,
): Promise<WorktreeIsolation> => {
  const record = getWorktree(service.store, caseId);
  const state = await stateOf(record);
  const asMade = check(
    'as_made',
    state === 'ok',
    state === 'ok' ? `${record.path} is unchanged since it was created.` : adviceFor(record, state),
  );
  // In a tampered worktree git would read another repository, so the other checks are skipped.
  const checks = state === 'ok' ? [asMade, ...(await insideChecks(service, record))] : [asMade];
  return { isolated: checks.every(({ ok }) => ok), checks };
};

const insideChecks = async (service: ProjectNeeds, record: WorktreeRecord): Promise<Check[]> => {
  const { project } = await getItem(service.store, record.case_id);
  const main = await findProjectRepository(service, project);
  const listed = await listWorktrees(service.git.at(record));
  return [
    ownDirectory(record, main),
    ownIndex(record, main),
    await ownBranch(service, record, listed),
    await ownWorkTree(service.git, record),
    notShared(service.store, record),
    keptByGit(record, listed),
  ];
};

const check = (name: string, ok: boolean, detail: string): Check => ({ name, ok, detail });

const ownDirectory = ({ case_id, path }: WorktreeRecord, main?: Repository): Check => {
  const name = 'own_directory';
  if (main === undefined) return check(name, true, 'The project has no checkout.');
  if (!isAtOrBelow(main.root, path))
    return check(name, true, `It is separate from your checkout ${main.root}.`);
  const advice = `Detach it: DELETE /api/cases/${case_id}/worktree.`;
  return check(name, false, `Your checkout ${main.root} is inside it. ${advice}`);
};

const ownIndex = ({ git_dir }: WorktreeRecord, main?: Repository): Check =>
  check('own_index', git_dir !== main?.git_dir, `Its HEAD and index are in ${git_dir}.`);

const ownBranch = async (
  { git, store }: WithGit & WithStore,
  record: WorktreeRecord,
  listed: Listed,
): Promise<Check> => {
  const name = 'own_branch';
  const { path, branch } = record;
  const now = await currentBranch(git.at(record));
  if (now === undefined)
    return check(
      name,
      true,
      `HEAD is detached. To switch back, run there: git switch ${shellQuoted(branch)}`,
    );
  const other = listed.find((entry) => entry.branch === now && entry.path !== path);
  if (other !== undefined)
    return check(name, false, `${now} is checked out at ${other.path}, too.`);
  if (!mainBranches(store, record).has(now))
    return check(
      name,
      true,
      `It is on ${now}${now === branch ? '' : `; it was created on ${branch}`}.`,
    );
  const way = branch === now ? '--create a-branch-of-its-own' : shellQuoted(branch);
  return check(name, false, `It is on the base branch ${now}. Run there: git switch ${way}`);
};

// `origin/main` stands for main as well.
const mainBranches = (store: Store, { base }: WorktreeRecord): Set<string> => {
  const { base_branch } = worktreeConfig(store);
  const named = [base, ...(base_branch === null ? [] : [base_branch])];
  return new Set(named.flatMap((each) => [each, each.replace(/^[^/]+\/(?=.)/, '')]));
};

// `core.worktree` makes git commands change files in another directory.
const ownWorkTree = async (git: Git, record: WorktreeRecord): Promise<Check> => {
  const args = ['config', '--get', 'core.worktree'];
  const elsewhere = await git.at(record).find(args, { ok: [0, 1] });
  if (elsewhere === undefined)
    return check('own_work_tree', true, 'git commands in it change its own files.');
  return check(
    'own_work_tree',
    false,
    `core.worktree is ${elsewhere}: git commands in it change files there. Run there: git config --unset core.worktree`,
  );
};

const notShared = (store: Store, { case_id, path }: WorktreeRecord): Check => {
  const other = worktreeRecords(store).find(
    ({ record }) =>
      record !== undefined && record.case_id !== case_id && overlap(record.path, path),
  );
  return check(
    'not_shared',
    other === undefined,
    other === undefined
      ? 'No other Work item uses it.'
      : `The worktree of the Work item ${other.case_id} overlaps it.`,
  );
};

const keptByGit = (record: WorktreeRecord, listed: Listed): Check => {
  const { path, attached, case_id } = record;
  if (attached)
    return check('kept_by_git', true, 'It is your directory: the daemon never deletes it.');
  const entry = listed.find((each) => each.path === path);
  const ok = entry?.locked === lockReason(case_id);
  return check(
    'kept_by_git',
    ok,
    ok
      ? 'It is locked in git for this Work item.'
      : `It is no longer locked in git for this Work item. Run: git worktree lock --reason '${lockReason(case_id)}' ${path}`,
  );
};
