import type { Case } from '../../../../store/records/case.ts';
import type { BranchName } from '../../../../store/records/worktree-upkeep.ts';
import type { WithStore } from '../../../../store/store.ts';
import { badField, invalidState } from '../../../errors.ts';
import { branchExists, checkBranchName } from '../../../tools/git/read/repository.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { listWorktrees } from '../../../tools/git/write/worktree.ts';
import { getItem } from '../../projects/item.ts';
import type { ProjectNeeds } from '../../projects/needs.ts';
import { repositoryFor } from '../../projects/repository.ts';
import { worktreeConfig } from '../config.ts';
import { filledIn, wrongTemplate } from './branch-template.ts';

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
  const branch = filledIn(used, item, branch_prefix);
  const wrong = wrongTemplate(used);
  if (wrong === undefined && (await checkBranchName(git, branch))) return branch;
  const why = wrong ?? `makes ${JSON.stringify(branch)}, which git does not take as a branch`;
  if (template === undefined) {
    const which = 'branch_template or branch_prefix, below worktrees in workspace.md';
    throw invalidState(`Mend ${which}: the template ${why}.`);
  }
  throw badField('/template', why, `The template ${why}.`);
};
