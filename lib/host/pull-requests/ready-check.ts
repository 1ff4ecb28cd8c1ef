import { undefinedUnlessDiskFault } from '../../../store/base/attempt.ts';
import type { StoredPull } from '../../../store/codehost/pulls.ts';
import { listReviews } from '../../../store/codehost/reviews.ts';
import type { Gate } from '../../../store/records/proof.ts';
import type { ReadyCheck } from '../../../store/records/pull-status.ts';
import type { ReviewMatter } from '../../../store/records/review.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { readWorktree } from '../../../store/worktrees/worktrees.ts';
import { checkState } from '../../code/worktrees/inspect/status.ts';
import type { HostReview, Pull, ReviewThread } from '../../codehost/code-host.ts';
import { counted } from '../../text/wording.ts';
import { commitOf, isAncestor } from '../../tools/git/read/repository.ts';
import { status } from '../../tools/git/read/status.ts';
import { getGate } from '../../work/proof/checklist.ts';
import type { SessionNeeds } from '../../work/sessions/live/needs.ts';
import { getPull, hostedFor, isOpen } from './record.ts';
import { NO_BRANCH, type RemoteHead, remoteHead } from './status.ts';
import { branchOfBase, pullTarget } from './target.ts';

/** What decides whether a pull request is ready for review, as it is now. */
export interface ReadinessFindings {
  gate: Gate;
  pull: Pull;
  unresolved: readonly Unresolved[];
  /** Reviews and threads of the host that cannot be used: one of them may request changes. */
  unread: readonly string[];
  /** Undefined without a worktree, which has nothing to publish. */
  local: LocalState | undefined;
  remote: RemoteHead;
}

interface LocalState {
  files: readonly string[];
  head: string | null;
  /** Whether the head contains the commit of the branch on the remote, so that a push replaces nothing. */
  has_remote: boolean;
  /** The base of the pull request as rebase takes it, where it conflicts and is not the worktree's base. */
  onto?: string | undefined;
}

/** Whether the pull request may be marked ready: every check with its finding and what to do. Changes nothing. */
export const readyCheck = async (service: SessionNeeds, caseId: string): Promise<ReadyCheck> =>
  evaluate(await readFindings(service, getPull(service.store, caseId)));

/** Reads the host, the remote and the worktree. Throws where one cannot be read, because unknown is not ready. */
export const readFindings = async (
  service: SessionNeeds,
  kept: StoredPull,
): Promise<ReadinessFindings> => {
  const hosted = hostedFor(service.codeHost, kept);
  const { number } = kept.matter;
  const [pull, { reviews, unread }, discussed] = await Promise.all([
    hosted.pull(number),
    hosted.reviews(number),
    hosted.threads(number),
  ]);
  const known = listReviews(service.store, kept.case_id) ?? [];
  const settled = resolvedIn(known.map(({ matter }) => matter));
  const remote = await remoteHead(service, kept);
  return {
    gate: await getGate(service, kept.case_id),
    pull,
    unresolved: unresolvedOf(reviews, discussed.threads).filter(({ id }) => !settled.has(id)),
    unread: [...unread, ...discussed.unread],
    local: await localState(service, kept, { pull, remote }),
    remote,
  };
};

/** The reviews that the operator has marked as resolved, which the host does not know. */
export const resolvedIn = (all: readonly ReviewMatter[]): ReadonlySet<string> =>
  new Set(all.flatMap(({ id, resolved_at }) => (resolved_at == null ? [] : [id])));

const localState = async (
  service: SessionNeeds,
  { case_id, matter }: StoredPull,
  { pull, remote }: Pick<ReadinessFindings, 'pull' | 'remote'>,
): Promise<LocalState | undefined> => {
  const { store, git } = service;
  const worktree = readWorktree(store, case_id);
  if (worktree === undefined) return undefined;
  await checkState(worktree);
  const { files } = await status(git.at(worktree));
  const head = await commitOf(git.at(worktree), `refs/heads/${worktree.branch}`);
  const there = 'commit' in remote ? remote.commit : null;
  const has_remote =
    head !== undefined && there !== null && (await isAncestor(git.at(worktree), there, head));
  const onto =
    pull.mergeable === false
      ? await otherBase(service, worktree, { repository: matter.repository, ref: pull.base_ref })
      : undefined;
  return { files: files.map(({ path }) => path), head: head ?? null, has_remote, onto };
};

// Others may have changed the base on the host; without a name, a rebase goes onto that of the worktree. A repository that
// no remote leads to prevents no check: a push names it.
const otherBase = async (
  service: SessionNeeds,
  worktree: WorktreeRecord,
  { repository, ref }: { repository: string; ref: string },
): Promise<string | undefined> => {
  const where = await undefinedUnlessDiskFault(pullTarget(service, worktree, repository));
  if (where === undefined) return undefined;
  const remote = where.base.remote ?? where.push.remote;
  return branchOfBase(worktree, where) === ref ? undefined : `${remote}/${ref}`;
};

type Check = ReadyCheck['checks'][number];

/** Ready means that every check passes. */
export const evaluate = (found: ReadinessFindings): ReadyCheck => {
  const checks = [
    state(found),
    gate(found),
    reviews(found),
    clean(found),
    pushed(found),
    inSync(found),
    mergeable(found),
    passing(found),
  ];
  return { ready: checks.every(({ ok }) => ok), checks };
};

const check = (name: Check['name'], ok: boolean, right: string, wrong = right): Check => ({
  name,
  ok,
  detail: ok ? right : wrong,
});

const NO_WORKTREE = 'The worktree was removed';

const state = ({ pull: { state, number } }: ReadinessFindings): Check => {
  const open = state === 'draft' ? 'a draft' : 'ready already';
  return check('state', isOpen(state), `#${number} is ${open}`, `#${number} is ${state}`);
};

const gate = ({ gate: { satisfied, missing, stale } }: ReadinessFindings): Check => {
  const older = stale.length === 0 ? '' : `; ${counted(stale.length, 'proof')} of an older commit`;
  const words = missing.map(({ description }) => description).join('; ');
  const proved = `Everything required is proved${older}`;
  return check('proof_gate', satisfied, proved, `Not proved: ${words}`);
};

const reviews = ({ unresolved, unread }: ReadinessFindings): Check => {
  const odd = unread.length === 0 ? [] : [`${unread.join('; ')}. ${ODD}`];
  const words = [...unresolved.map(({ detail }) => detail), ...odd];
  return check('reviews', words.length === 0, 'No review is open', words.join('; '));
};

const ODD =
  'See it on the host: if it requests no changes, mark the pull request as ready for review there';

const clean = ({ local }: ReadinessFindings): Check => {
  if (local === undefined) return check('worktree_clean', true, NO_WORKTREE);
  const { files } = local;
  const names = `${files.slice(0, 5).join(', ')}${files.length > 5 ? ', …' : ''}`;
  const left = `Not committed: ${names}. Send …/pr/push, with {"changes": "commit"} for what that leaves out`;
  return check('worktree_clean', files.length === 0, 'Everything is committed', left);
};

const pushed = ({ local, remote }: ReadinessFindings): Check => {
  if ('unknown' in remote) return check('pushed', false, remote.unknown);
  if (local === undefined) return check('pushed', true, NO_WORKTREE);
  const isPushed = local.head === remote.commit;
  return check('pushed', isPushed, 'The remote has every commit', unpushed(local, remote.commit));
};

const unpushed = ({ has_remote }: LocalState, there: string | null): string => {
  if (has_remote) return 'The remote does not have the local commits. Send …/pr/push';
  if (there === null) return `${NO_BRANCH} Send …/pr/sync-state`;
  return `The remote has commits that the worktree does not have (${there.slice(0, 12)}). After a rebase send …/conflicts/push-rebased; else run git fetch and git merge in the worktree, then check again`;
};

const inSync = ({ pull: { head_sha }, remote }: ReadinessFindings): Check => {
  if ('unknown' in remote) return check('head_in_sync', false, remote.unknown);
  if (remote.commit === null) return check('head_in_sync', false, NO_BRANCH);
  return check(
    'head_in_sync',
    remote.commit === head_sha,
    `The host is at ${head_sha.slice(0, 12)}`,
    'The host does not have the newest commit yet. Check again in a few seconds',
  );
};

const mergeable = ({ pull: { mergeable, base_ref }, local }: ReadinessFindings): Check => {
  const named = local?.onto === undefined ? '' : ` with {"onto": "${local.onto}"}`;
  const fits =
    mergeable === null ? 'The host has not computed it yet' : `It can be merged into ${base_ref}`;
  const conflicts = `It conflicts with ${base_ref}. Send …/pr/rebase${named}, and then …/conflicts/push-rebased`;
  return check('mergeable', mergeable !== false, fits, conflicts);
};

const passing = ({ pull: { checks } }: ReadinessFindings): Check => {
  const details = {
    none: 'There are no checks',
    success: 'All checks have passed',
    pending: 'Checks are still running',
    failure:
      'Checks have failed. List them and the ends of their logs with GET …/pr/reviews/unresolved',
  };
  return check('checks', checks !== 'failure', details[checks ?? 'none']);
};

/** An open review or thread. */
interface Unresolved {
  /** `review:<number>` or `thread:<node id>`. */
  id: string;
  /** One line for the operator. */
  detail: string;
}

type Decision = Pick<HostReview, 'number' | 'author' | 'state' | 'submitted_at'>;

/** The fields of a thread that the rule reads. */
type OpenThread = Pick<ReviewThread, 'node_id' | 'resolved' | 'path' | 'line'>;

/**
 * What blocks: the newest decision of each author, where it requests changes and was not dismissed, and every
 * unresolved thread. Comments do not count.
 */
export const unresolvedOf = (
  reviews: readonly Decision[],
  threads: readonly OpenThread[],
): Unresolved[] => [
  ...newestDecisions(reviews)
    .filter(({ state }) => state === 'changes_requested')
    .map(({ number, author }) => ({
      id: `review:${number}`,
      detail: `${author ?? 'a deleted user'} requested changes`,
    })),
  ...threads.filter(({ resolved }) => !resolved).map(ofThread),
];

const newestDecisions = (reviews: readonly Decision[]): Decision[] => {
  const newest = new Map<string | number, Decision>();
  const decisions = reviews.filter(({ state }) => DECISIONS.has(state));
  // Deleted users have no name, and one does not decide for another.
  for (const review of decisions.toSorted(bySubmission))
    newest.set(review.author ?? review.number, review);
  return [...newest.values()];
};

const DECISIONS = new Set<HostReview['state']>(['approved', 'changes_requested', 'dismissed']);

const bySubmission = (a: Decision, b: Decision): number =>
  (a.submitted_at ?? '').localeCompare(b.submitted_at ?? '') || a.number - b.number;

const ofThread = ({ node_id, path, line }: OpenThread): Unresolved => ({
  id: `thread:${node_id}`,
  detail: `a thread on ${path}${line === null ? '' : `:${line}`} is not resolved`,
});
