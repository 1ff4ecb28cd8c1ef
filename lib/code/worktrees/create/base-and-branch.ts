import { isAtOrBelow } from '../../../../store/base/at-or-below.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { WorktreeBase } from '../../../../store/records/worktree.ts';
import type { BranchName } from '../../../../store/records/worktree-upkeep.ts';
import type { WithStore } from '../../../../store/store.ts';
import { badField, invalidState } from '../../../errors.ts';
import { counted } from '../../../text/counted.ts';
import { chooseBase, describeCommit } from '../../../tools/git/read/base.ts';
import {
  branchExists,
  checkBranchName,
  type Repository,
} from '../../../tools/git/read/repository.ts';
import { status } from '../../../tools/git/read/status.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { listWorktrees } from '../../../tools/git/write/worktree.ts';
import { getItem, type ProjectNeeds, repositoryFor } from '../../projects/project.ts';
import { worktreeConfig } from '../config.ts';
import { findWorktree } from '../read.ts';
import { fillTemplate, wrongTemplate } from './names.ts';

/** What the Work item's worktree began from, or would begin from now. Creates nothing, and fetches nothing. */
export const baseOf = async (
  service: ProjectNeeds,
  caseId: string,
  wanted?: string,
): Promise<WorktreeBase> => {
  const { store, git } = service;
  const item = await getItem(store, caseId);
  const known = findWorktree(store, caseId);
  if (known !== undefined && wanted === undefined) {
    const { base, base_commit, base_notes = [], repository: _, ...place } = known;
    const told = await toldOf(describeCommit(git.at(place), base_commit));
    return { base, base_commit, ...told, notes: base_notes, exists: true };
  }
  const repository = await repositoryFor(service, item.project);
  const { base_branch } = worktreeConfig(store);
  const chosen = await chooseBase(git.at(repository), wanted ?? base_branch ?? undefined);
  const [told, left] = await Promise.all([
    toldOf(describeCommit(git.at(repository), chosen.commit)),
    notIncluded(service, repository),
  ]);
  const { name: base, commit: base_commit, notes } = chosen;
  return { base, base_commit, ...told, notes: [...notes, ...left], exists: false };
};

type Told = Pick<WorktreeBase, 'subject' | 'committed_at'>;

// One that a later git has removed is still named by its record.
const toldOf = async (said: ReturnType<typeof describeCommit>): Promise<Told> => {
  const { subject = '', committed_at = new Date(0) } = (await said) ?? {};
  return { subject, committed_at: committed_at.toISOString() };
};

/** How many files of the project's checkout a new worktree does not have, as a sentence; none where that cannot be read. */
export const notIncluded = async (
  { git, store }: WithGit & WithStore,
  { root: path, bare, git_dir, common_dir }: Repository,
): Promise<string[]> => {
  if (bare) return [];
  // It only goes with the record: a checkout that git cannot read keeps no worktree from being created.
  const now = await status(git.at({ path, git_dir, common_dir })).catch(() => undefined);
  const isOurs = (file: string): boolean => isAtOrBelow(`${path}/${file}`, store.layout.root);
  const files = (now?.files ?? []).filter((file) => !file.repository && !isOurs(file.path));
  if (files.length === 0) return [];
  const are = files.length === 1 ? 'is' : 'are';
  return [`${counted(files.length, 'uncommitted file')} ${are} not included.`];
};

/** The branch that a new worktree of the Work item is on, by the template of the settings or the one given. Makes nothing. */
export const branchNameFor = async (
  service: ProjectNeeds,
  caseId: string,
  template?: string,
): Promise<BranchName> => {
  const { git } = service;
  const item = await getItem(service.store, caseId);
  const branch = await branchFor(service, item, template);
  const repository = await repositoryFor(service, item.project);
  const listed = await listWorktrees(git.at(repository));
  return {
    case_id: caseId,
    branch,
    exists: await branchExists(git.at(repository), branch),
    checked_out_at: listed.find((entry) => entry.branch === branch)?.path ?? null,
  };
};

/** The name as the template makes it: 400 for one that was given, 422 for that of the settings, if git does not take it. */
export const branchFor = async (
  { store, git }: WithGit & WithStore,
  item: Case,
  template?: string,
): Promise<string> => {
  const { branch_prefix, branch_template } = worktreeConfig(store);
  const used = template ?? branch_template;
  const branch = fillTemplate(used, item, branch_prefix);
  const wrong = wrongTemplate(used);
  if (wrong === undefined && (await checkBranchName(git, branch))) return branch;
  const why = wrong ?? `makes ${JSON.stringify(branch)}, which git does not take as a branch`;
  if (template === undefined) {
    const which = 'branch_template or branch_prefix, below worktrees in workspace.md';
    throw invalidState(`Mend ${which}: the template ${why}.`);
  }
  throw badField('/template', why, `The template ${why}.`);
};
