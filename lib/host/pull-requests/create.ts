import { isRepeatedCall } from '../../../store/base/new-id.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { readPull, type StoredPull } from '../../../store/codehost/pulls.ts';
import type { CreatedPull, WantedPull } from '../../../store/records/pull-call.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { Store } from '../../../store/store.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import { type HostedRepository, labelsWithout, type Pull } from '../../codehost/code-host.ts';
import { afterDone, invalidState, ServiceError } from '../../errors.ts';
import { headCommit } from '../../tools/git/read/repository.ts';
import { headOnBranch } from '../../work/conflicts/preflight.ts';
import { exclusively } from '../../work/sessions/lifecycle/operation.ts';
import type { SessionNeeds } from '../../work/sessions/live/needs.ts';
import {
  commitChanges,
  committedText,
  NOTHING,
  warnOfLfs,
  warnOfSecrets,
} from './commit-changes.ts';
import { publishable, pullDraft } from './compose.ts';
import { pushBranch, pushedText, unpublished } from './push-branch.ts';
import {
  isOpen,
  type PullNeeds,
  recordPull,
  toPullRequest,
  underPullLock,
  warningOf,
  writeOrVerify,
} from './record.ts';
import { baseBranches, pullTarget, type Where } from './target.ts';
import { addTransitions, oddEvents, opened, transitionsOf } from './timeline.ts';

/**
 * Commits what the session left, pushes the branch, and opens the pull request or adopts the open one of the branch, so
 * that a repeated call continues after a crash. Throws 409 `already_exists` where the Work item has an open one.
 */
export const createPull = (
  service: SessionNeeds,
  caseId: string,
  wanted: WantedPull,
): Promise<CreatedPull> =>
  underPullLock(service.store, caseId, async () => {
    checkCase(service.store, caseId);
    const made = isRepeatedCall() ? openPull(service.store, caseId) : undefined;
    if (made !== undefined)
      return { ...toPullRequest(made), adopted: false, ...NOTHING, warnings: [] };
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
    `The Work item already has a pull request: #${number} (${state}). Push new commits with …/pr/push; if it was closed on the host, send …/pr/sync-state first.`,
    { members: { number, url: url ?? null } },
  );
};

const create = async (
  service: SessionNeeds,
  worktree: WorktreeRecord,
  wanted: WantedPull,
): Promise<CreatedPull> => {
  const { now } = await headOnBranch(service, worktree);
  const where = await pullTarget(service, worktree, wanted.repository);
  const {
    title: named,
    body: composed,
    labels: usual,
  } = await pullDraft(service.store, worktree.case_id);
  const { title = named, draft = true, labels = usual, changes } = wanted;
  const { base: usualBase, main } = await baseBranches(service, worktree, where);
  const { base = usualBase } = wanted;
  const committed = await commitChanges(service, worktree, { status: now, changes, title });
  // The body was composed before the commit; nothing in it depends on the commit.
  const body = wanted.body ?? publishable(composed);
  const isBaseNamed = wanted.base !== undefined;
  const proposal = { title, body, base, isBaseNamed, draft, labels, where };
  const { kept, adopted, warnings } = await afterDone(committedText(committed), () =>
    publish(service, worktree, { proposal, main }),
  );
  return { ...toPullRequest(kept), adopted, ...committed, warnings };
};

/** Pushes the branch, and proposes it. */
const publish = async (
  service: SessionNeeds,
  worktree: WorktreeRecord,
  { proposal, main }: { proposal: Omit<Proposal, 'head'>; main: string },
): Promise<Proposed> => {
  const { case_id, branch } = worktree;
  const { where, base } = proposal;
  const { push } = where;
  await refuseMerged(service, worktree);
  // Asked before the push, after which the remote has them all.
  const published = await unpublished(service.git, worktree, { where, base });
  const wanted = { push, base, main, pushed: null };
  const pushed = await pushBranch(service, worktree, wanted);
  const head = { owner: push.owner, branch, commit: pushed.commit };
  return afterDone(pushedText(branch, push.remote, pushed), async () => {
    const [secrets, lfs] = await Promise.all([
      warnOfSecrets(service, worktree),
      warnOfLfs(service, worktree, push.remote),
    ]);
    const proposed = await propose(service, case_id, { ...proposal, head });
    return { ...proposed, warnings: [...secrets, ...lfs, ...published, ...proposed.warnings] };
  });
};

// The local base branch may not have the merge yet.
const refuseMerged = async ({ store, git }: GitNeeds, worktree: WorktreeRecord): Promise<void> => {
  const { state, head_sha, number } = readPull(store, worktree.case_id)?.matter ?? {};
  if (state !== 'merged') return;
  const head = await headCommit(git.at(worktree));
  if (head === undefined || head !== head_sha) return;
  throw invalidState(
    `All commits of ${worktree.branch} were merged with #${number}, so there is nothing to propose. Run a session, or commit, first.`,
  );
};

interface Proposal {
  title: string;
  body: string;
  base: string;
  /** Whether the caller named the base: one into another is then not adopted. */
  isBaseNamed: boolean;
  draft: boolean;
  labels: readonly string[];
  head: { owner: string; branch: string; commit: string };
  where: Where;
}

interface Proposed {
  kept: StoredPull;
  adopted: boolean;
  warnings: string[];
}

/**
 * Opens a pull request for a pushed branch and records it. An open one of the branch is adopted without changing it.
 */
const propose = async (
  service: PullNeeds,
  caseId: string,
  proposal: Proposal,
): Promise<Proposed> => {
  const hosted = service.codeHost().repository(proposal.where.base);
  const found = await open(hosted, proposal);
  const { number, url } = found.pull;
  const done = found.adopted ? undefined : `#${number} was opened on the host (${url})`;
  return afterDone(done, () => recordProposed(service, caseId, { proposal, hosted, ...found }));
};

interface Found {
  pull: Pull;
  adopted: boolean;
}

const recordProposed = async (
  { store }: PullNeeds,
  caseId: string,
  { proposal, hosted, pull, adopted }: Found & { proposal: Proposal; hosted: HostedRepository },
): Promise<Proposed> => {
  const { where, head } = proposal;
  const warnings = adopted ? differences(pull, proposal) : [];
  const labels = adopted ? pull.labels : await labelled(hosted, pull, { proposal, warnings });
  const besides = {
    head_owner: head.owner,
    remote: where.push.remote,
    pushed_commit: head.commit,
    labels,
    head_in_sync: pull.head_sha === head.commit,
    published_sha256: sha256(pull.body),
  };
  const kept = await recordPull(store, caseId, { name: hosted.name, pull, besides });
  const observed = { observed_at: kept.matter.synced_at ?? '', source: 'service' as const };
  const known = adopted
    ? await hosted.pullEvents(pull.number).then(
        ({ events, unread }) => {
          warnings.push(...oddEvents(unread));
          return transitionsOf(pull, events, observed);
        },
        (error: unknown) => {
          warnings.push(warningOf('Reading its history failed', error));
          return [];
        },
      )
    : [opened(pull, pull.state, { ...observed, head_sha: pull.head_sha })];
  await addTransitions(store, caseId, known);
  return { kept, adopted, warnings };
};

const open = async (
  hosted: HostedRepository,
  { where, head, base, isBaseNamed, title, body, draft }: Proposal,
): Promise<Found> => {
  const find = async (): Promise<Pull | undefined> => {
    const found = await hosted.findPull({ ...head, base });
    return isBaseNamed && found?.base_ref !== base ? undefined : found;
  };
  const known = await find();
  if (known !== undefined) return { pull: known, adopted: true };
  const isFork = where.base.owner.toLowerCase() !== head.owner.toLowerCase();
  const from = isFork ? `${head.owner}:${head.branch}` : head.branch;
  try {
    const write = () => hosted.createPull({ title, body, head: from, base, draft });
    return { pull: await writeOrVerify(write, find), adopted: false };
  } catch (error) {
    // Another client may have opened one between the lookup and the write.
    const theirs = isRefused(error) ? await find() : undefined;
    if (theirs === undefined) throw draft ? withoutDrafts(error) : error;
    return { pull: theirs, adopted: true };
  }
};

const isRefused = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'codehost_rejected';

// Some plans have no drafts for private repositories. A pull request that is not a draft requests reviews at once, so
// the operator decides.
const withoutDrafts = (error: unknown): unknown =>
  isRefused(error) && /draft/i.test(error.message)
    ? new ServiceError(
        error.code,
        `${error.message} If the repository does not support drafts, send {"draft": false} to open it ready for review.`,
        { members: error.members, cause: error },
      )
    : error;

const differences = (pull: Pull, { base, title }: Proposal): string[] => [
  ...(pull.base_ref === base ? [] : [`Its base stays ${pull.base_ref}, not ${base}.`]),
  ...(pull.title === title ? [] : [`Its title stays: ${pull.title}`]),
];

const labelled = async (
  hosted: HostedRepository,
  pull: Pull,
  { proposal: { labels }, warnings }: { proposal: Proposal; warnings: string[] },
): Promise<string[]> => {
  if (labels.length === 0) return pull.labels;
  try {
    // Others, such as a bot, may have labelled it already.
    const write = () => hosted.setLabels(pull.number, (now) => [...now, ...labels]);
    return await writeOrVerify(write, async () => {
      const { labels: now } = await hosted.pull(pull.number);
      return labelsWithout(labels, now).length === 0 ? now : undefined;
    });
  } catch (error) {
    warnings.push(warningOf('Setting its labels failed; send them with PATCH …/pr', error));
    return pull.labels;
  }
};
