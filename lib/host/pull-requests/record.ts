import { lockOn } from '../../../store/base/locks.ts';
import { readPull, type StoredPull, savePull } from '../../../store/codehost/pulls.ts';
import type { PullMatter, PullRequest } from '../../../store/records/pull-request.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { noteMergedPull } from '../../code/worktrees/inspect/merged.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import {
  type CodeHost,
  type HostedRepository,
  type Pull,
  type PullState,
  type RepositoryName,
  repositoryNamed,
  type WithCodeHost,
} from '../../codehost/code-host.ts';
import { invalidState, notFound, ServiceError } from '../../errors.ts';

/** A pull request of the host as record fields. */
const matterOf = (
  { host, owner, name }: RepositoryName,
  pull: Pull,
): Omit<PullMatter, 'synced_at'> => ({
  host,
  repository: `${owner}/${name}`,
  number: pull.number,
  node_id: pull.node_id,
  url: pull.url,
  title: pull.title,
  state: pull.state,
  author: pull.author,
  head_ref: pull.head_ref,
  head_sha: pull.head_sha,
  base_ref: pull.base_ref,
  labels: pull.labels,
  review_decision: pull.review_decision,
  checks: pull.checks,
  mergeable: pull.mergeable,
  created_at: inMilliseconds(pull.created_at),
  updated_at: inMilliseconds(pull.updated_at),
  merged_at: pull.merged_at === null ? null : inMilliseconds(pull.merged_at),
  merge_commit: pull.merge_commit,
  closed_at: pull.closed_at === null ? null : inMilliseconds(pull.closed_at),
});

/** Adds milliseconds: the host's times have seconds only. */
export const inMilliseconds = (time: string): string => new Date(time).toISOString();

/**
 * Records the host's current state of a pull request, and `besides`. Fields that the host does not have stay. Throws 409
 * `pull_mismatch` where the record names the branch of another one, because a head branch never changes.
 */
export const recordPull = async (
  store: Store,
  caseId: string,
  told: { name: RepositoryName; pull: Pull; besides?: Partial<PullMatter> },
): Promise<StoredPull> => {
  const { name, pull, besides } = told;
  refuseOther(readPull(store, caseId), name, pull);
  const synced_at = store.clock().toISOString();
  const matter = { ...matterOf(name, pull), stale: false, synced_at, ...besides };
  const kept = await savePull(store, caseId, { matter, body: pull.body });
  if (kept === undefined) throw notFound('Work item', caseId);
  const { state, head_ref, head_sha: commit, base_ref: into } = pull;
  if (state === 'merged') await noteMergedPull(store, caseId, { into, commit, head_ref });
  return kept;
};

/** Throws 409 `pull_mismatch` where the record names the branch of another pull request than the one that was read. */
export const refuseOther = (
  kept: StoredPull | undefined,
  name: RepositoryName,
  pull: Pull,
): void => {
  if (kept === undefined || kept.matter.head_ref === pull.head_ref) return;
  const { host, repository, number, head_ref } = kept.matter;
  const now = matterOf(name, pull);
  if (now.host !== host || now.repository !== repository || now.number !== number) return;
  throw new ServiceError(
    'pull_mismatch',
    `${repository}#${number} is for the branch ${pull.head_ref}, but pr/pr.md names ${head_ref}. Nothing was recorded. Correct number or head_ref in pr/pr.md, then try again.`,
  );
};

/** Whether a failed write may have taken effect, because no response arrived. */
const isUnsure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.members.outcome === 'unknown';

/**
 * Performs a write that must not be repeated. Where its outcome is unknown, `look` reads the current state, undefined
 * when the write had no effect. Without a result the error is thrown, with `outcome: unknown`.
 */
export const writeOrVerify = async <T>(
  write: () => Promise<T>,
  look: () => Promise<T | undefined>,
): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!isUnsure(error)) throw error;
    const found = await look().catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
};

/** The same for a pull request, which is read again and counts if `isDone`. */
export const writePull = (
  { hosted, number }: { hosted: HostedRepository; number: number },
  write: () => Promise<Pull>,
  isDone: (now: Pull) => boolean,
): Promise<Pull> =>
  writeOrVerify(write, async () => {
    const now = await hosted.pull(number);
    return isDone(now) ? now : undefined;
  });

/** The warning for a failed side step of a call. */
export const warningOf = (what: string, error: unknown): string => {
  if (error instanceof ServiceError) return `${what}: ${error.message}`;
  throw error;
};

/** The record of the Work item's pull request. Throws 404 where there is none, and `unreadable_record`. */
export const getPull = (store: Store, caseId: string): StoredPull => {
  checkCase(store, caseId);
  const kept = readPull(store, caseId);
  if (kept !== undefined) return kept;
  throw new ServiceError(
    'not_found',
    `The Work item ${caseId} has no pull request yet. Read the draft with GET /api/cases/${caseId}/pr/draft, then create it with POST /api/cases/${caseId}/pr/create.`,
  );
};

/** The same for an open one. Throws 422 once it is closed or merged. */
export const getOpenPull = (store: Store, caseId: string): StoredPull => {
  const kept = getPull(store, caseId);
  const { state, number } = kept.matter;
  if (isOpen(state)) return kept;
  throw invalidState(
    `Pull request #${number} is ${state}. If that has changed on the host, send POST /api/cases/${caseId}/pr/sync-state. To propose new commits, open another one with POST /api/cases/${caseId}/pr/create.`,
  );
};

/** Neither closed nor merged. */
export const isOpen = (state: PullState): boolean => state === 'draft' || state === 'open';

/** The hosted repository of a pull request, for reading; `hostedToWrite` is for writing. */
export const hostedFor = (codeHost: () => CodeHost, { matter }: StoredPull): HostedRepository =>
  codeHost().repository(repositoryNamed(matter.host, matter.repository));

/** The record as the API returns it. */
export const toPullRequest = ({ case_id, matter, body }: StoredPull): PullRequest => {
  const { host, repository, number, title, state, head_ref, base_ref } = matter;
  const { url = null, author = null, head_owner = null, head_sha = null, labels = [] } = matter;
  const { review_decision = null, checks = null, mergeable = null, head_in_sync = null } = matter;
  const { published_sha256 = null, proof_comment = null, synced_at = null } = matter;
  const { created_at = null, updated_at = null, merged_at = null, closed_at = null } = matter;
  const { stale = false, notes = '' } = matter;
  return {
    case_id,
    host,
    repository,
    number,
    url,
    title,
    body,
    state,
    author,
    head_owner,
    head_ref,
    head_sha,
    base_ref,
    labels,
    review_decision,
    checks,
    mergeable,
    head_in_sync,
    stale,
    published_sha256,
    proof_comment,
    created_at,
    updated_at,
    merged_at,
    closed_at,
    synced_at,
    notes: notes ?? '',
  };
};

/**
 * Runs `work` under the lock of the Work item's pull request, for as long as the host takes, so that results are
 * written in order. Taken before the lock of the worktree and of the Work item, never within them.
 */
export const underPullLock = <T>(
  { locks }: Store,
  caseId: string,
  work: () => Promise<T>,
): Promise<T> => locks.take(lockOn.pull(caseId), work);

/** The services that most functions of this room need. */
export type PullNeeds = WithCodeHost & WithStore;
