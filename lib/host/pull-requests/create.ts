import { readPull, type StoredPull } from '../../../store/codehost/pulls.ts';
import { isMadeAgain } from '../../../store/reconcile/new-id.ts';
import type { CreatedPull, WantedPull } from '../../../store/records/pull-call.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { Store } from '../../../store/store.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { headCommit } from '../../tools/git/read/repository.ts';
import { exclusively } from '../../work/conflicts/exclusively.ts';
import { standing } from '../../work/conflicts/preflight.ts';
import type { SessionNeeds } from '../../work/sessions/live/needs.ts';
import { commitChanges } from './commit-changes.ts';
import { publishable, pullDraft } from './compose.ts';
import { inPullTurn, isOpen, servedPull } from './current.ts';
import { propose } from './propose.ts';
import { pushBranch } from './push-branch.ts';
import { basesOf, whereTo } from './where.ts';

/**
 * Commits what the session left, pushes the branch, and opens the pull request, or adopts the open one of the same branch:
 * after a crash in the middle the next call takes it up. 409 `already_exists` where the Work item has an open one.
 */
export const createPull = (
  service: SessionNeeds,
  caseId: string,
  wanted: WantedPull,
): Promise<CreatedPull> =>
  inPullTurn(service.store, caseId, async () => {
    checkCase(service.store, caseId);
    const made = isMadeAgain() ? openPull(service.store, caseId) : undefined;
    if (made !== undefined)
      return { ...servedPull(made), adopted: false, committed: null, warnings: [] };
    refuseSecond(service.store, caseId);
    return exclusively(service, caseId, 'creation of a pull request', (worktree) =>
      create(service, worktree, wanted),
    );
  });

const openPull = (store: Store, caseId: string): StoredPull | undefined => {
  const kept = readPull(store, caseId);
  return kept !== undefined && isOpen(kept.matter.state) ? kept : undefined;
};

const refuseSecond = (store: Store, caseId: string): void => {
  const kept = openPull(store, caseId);
  if (kept === undefined) return;
  const { number, url, state } = kept.matter;
  throw new ServiceError(
    'already_exists',
    `The Work item has a pull request: #${number}, ${state}. Send …/pr/push for new commits; if it was closed on the host, …/pr/sync-state first.`,
    { members: { number, url: url ?? null } },
  );
};

const create = async (
  service: SessionNeeds,
  worktree: WorktreeRecord,
  wanted: WantedPull,
): Promise<CreatedPull> => {
  const { case_id, branch } = worktree;
  const { now } = await standing(service, worktree);
  const where = await whereTo(service, worktree, wanted.repository);
  const { title: named, body: composed, labels: usual } = await pullDraft(service.store, case_id);
  const { title = named, draft = true, labels = usual, changes } = wanted;
  const { base: usualBase, main } = await basesOf(service, worktree, where);
  const { base = usualBase } = wanted;
  const committed = await commitChanges(service, worktree, { status: now, changes, title });
  // Composed anew, the body is of what was there before the commit: nothing in it depends on that.
  const body = wanted.body ?? publishable(composed);
  await refuseMerged(service, worktree);
  const { commit } = await pushBranch(service, worktree, {
    push: where.push,
    base,
    main,
    pushed: null,
  });
  const head = { owner: where.push.owner, branch, commit };
  const proposal = { title, body, base, draft, labels, head, where };
  const { kept, adopted, warnings } = await propose(service, case_id, proposal);
  return { ...servedPull(kept), adopted, committed: committed ?? null, warnings };
};

// The base branch here may not have heard of the merge yet.
const refuseMerged = async ({ store, git }: GitNeeds, worktree: WorktreeRecord): Promise<void> => {
  const { state, head_sha, number } = readPull(store, worktree.case_id)?.matter ?? {};
  if (state !== 'merged') return;
  const head = await headCommit(git.at(worktree));
  if (head === undefined || head !== head_sha) return;
  throw invalidState(
    `Everything that ${worktree.branch} has was merged with #${number}: there is nothing to propose. Run a session, or commit, first.`,
  );
};
