import { isAtOrBelow } from '../../../../store/base/paths.ts';
import { trustCommandFor } from '../../../../store/base/text.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { WorktreeBase } from '../../../../store/records/worktree.ts';
import type { BranchName } from '../../../../store/records/worktree-upkeep.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { badField, invalidState } from '../../../errors.ts';
import { isBaseWaiting, requireTrustedBase } from '../../../guard/trust/require.ts';
import { counted } from '../../../text/wording.ts';
import { chooseBase, describeCommit } from '../../../tools/git/read/base.ts';
import { checkBranchName, commitOf, type Repository } from '../../../tools/git/read/repository.ts';
import { status } from '../../../tools/git/read/status.ts';
import { repositoryOf, type WithGit } from '../../../tools/git/run/git.ts';
import { listWorktrees } from '../../../tools/git/write/worktree.ts';
import { getItem, type ProjectNeeds, repositoryFor } from '../../projects/project.ts';
import { worktreeConfig } from '../config.ts';
import { newInBase } from '../inspect/status.ts';
import { fillTemplate, wrongTemplate } from './names.ts';

/** The configured base of worktrees for which none is named. Throws 422 `trust_needed` while the setting waits. */
export const configuredBase = (store: Store): string | undefined => {
  requireTrustedBase(store);
  return worktreeConfig(store).base_branch ?? undefined;
};

/** The base of the Work item's worktree, or of a new one. Creates and fetches nothing. */
export const baseOf = async (
  service: ProjectNeeds,
  caseId: string,
  wanted?: string,
): Promise<WorktreeBase> => {
  const { store, git } = service;
  const item = await getItem(store, caseId);
  const known = readWorktree(store, caseId);
  if (known !== undefined && wanted === undefined) {
    const { base, base_commit, base_notes = [] } = known;
    const [summary, new_in_base] = await Promise.all([
      commitSummary(describeCommit(git.at(repositoryOf(known)), base_commit)),
      newInBase(git, known).catch(() => null),
    ]);
    return { base, base_commit, ...summary, new_in_base, notes: base_notes, exists: true };
  }
  const repository = await repositoryFor(service, item.project);
  const { base_branch } = worktreeConfig(store);
  const chosen = await chooseBase(git.at(repository), wanted ?? base_branch ?? undefined);
  const [summary, left] = await Promise.all([
    commitSummary(describeCommit(git.at(repository), chosen.commit)),
    notIncluded(service, repository),
  ]);
  const { name: base, commit: base_commit, notes } = chosen;
  const waits = wanted === undefined && isBaseWaiting(store) ? [baseWaits(store)] : [];
  return { base, base_commit, ...summary, notes: [...waits, ...notes, ...left], exists: false };
};

const baseWaits = ({ layout }: Store): string =>
  `worktrees.base_branch waits for ${trustCommandFor(layout)}.`;

type CommitSummary = Pick<WorktreeBase, 'subject' | 'committed_at'>;

// The commit may have been removed by `git gc`.
const commitSummary = async (
  described: ReturnType<typeof describeCommit>,
): Promise<CommitSummary> => {
  const { subject = '', committed_at = new Date(0) } = (await described) ?? {};
  return { subject, committed_at: committed_at.toISOString() };
};

/** A sentence with the number of uncommitted files in the project's checkout; empty if there are none or git fails. */
export const notIncluded = async (
  { git, store }: WithGit & WithStore,
  { root: path, bare, git_dir, common_dir }: Repository,
): Promise<string[]> => {
  if (bare) return [];
  // Informational: an unreadable checkout must not prevent the creation of a worktree.
  const now = await status(git.at({ path, git_dir, common_dir })).catch(() => undefined);
  const isOurs = (file: string): boolean => isAtOrBelow(`${path}/${file}`, store.layout.root);
  const files = (now?.files ?? []).filter((file) => !file.repository && !isOurs(file.path));
  if (files.length === 0) return [];
  const are = files.length === 1 ? 'is' : 'are';
  return [`${counted(files.length, 'uncommitted file')} ${are} not included.`];
};

/** The branch of a new worktree of the Work item, by the given template or that of the settings. Creates nothing. */
export const branchNameFor = async (
  service: ProjectNeeds,
  caseId: string,
  template?: string,
): Promise<BranchName> => {
  const { git } = service;
  const item = await getItem(service.store, caseId);
  const branch = await branchFor(service, item, template);
  const repository = await repositoryFor(service, item.project);
  const at = git.at(repository);
  const listed = await listWorktrees(at);
  return {
    case_id: caseId,
    branch,
    exists: (await commitOf(at, `refs/heads/${branch}`)) !== undefined,
    checked_out_at: listed.find((entry) => entry.branch === branch)?.path ?? null,
  };
};

/** The branch name by a template. If it is invalid: 400 for a given template, 422 for that of the settings. */
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
  const why = wrong ?? `gives ${JSON.stringify(branch)}, which is not a valid branch name`;
  if (template === undefined) {
    const which = 'branch_template or branch_prefix, below worktrees in workspace.md';
    throw invalidState(`The template ${why}. Change ${which}.`);
  }
  throw badField('/template', why, `The template ${why}.`);
};
