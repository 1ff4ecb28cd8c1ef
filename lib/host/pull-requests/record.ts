import { lockOn } from '../../../store/base/locks.ts';
import { readPull, type StoredPull, savePull } from '../../../store/codehost/pulls.ts';
import type { PullMatter, PullRequest } from '../../../store/records/pull-request.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { hostedRepositoryNamed } from '../../code/projects/hosted.ts';
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

/** What the host tells of a pull request, in the form of its record. */
const matterOf = (
  { host, owner, name }: RepositoryName,
  pull: Pull,
): Omit<PullMatter, 'synced_at'> => ({
  ...{ host, repository: `${owner}/${name}`, number: pull.number, node_id: pull.node_id },
  ...{ url: pull.url, title: pull.title, state: pull.state, author: pull.author },
  ...{ head_ref: pull.head_ref, head_sha: pull.head_sha, base_ref: pull.base_ref },
  ...{ labels: pull.labels, review_decision: pull.review_decision, checks: pull.checks },
  mergeable: pull.mergeable,
  created_at: inMilliseconds(pull.created_at),
  updated_at: inMilliseconds(pull.updated_at),
  merged_at: pull.merged_at === null ? null : inMilliseconds(pull.merged_at),
  closed_at: pull.closed_at === null ? null : inMilliseconds(pull.closed_at),
});

/** The host's times have seconds only. */
export const inMilliseconds = (time: string): string => new Date(time).toISOString();

/** Records what the host has just told, with what is known besides. What the host does not know of stays. */
export const recordPull = async (
  store: Store,
  caseId: string,
  told: { name: RepositoryName; pull: Pull; besides?: Partial<PullMatter> },
): Promise<StoredPull> => {
  const { name, pull, besides } = told;
  const synced_at = store.clock().toISOString();
  const matter = { ...matterOf(name, pull), stale: false, synced_at, ...besides };
  const kept = await savePull(store, caseId, { matter, body: pull.body });
  if (kept === undefined) throw notFound('Work item', caseId);
  return kept;
};

/** Whether a write may have taken effect all the same: the host was asked, and nobody knows what became of it. */
const isUnsure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.members.outcome === 'unknown';

/**
 * Makes a write that is not repeated: where its outcome is unknown, `look` says what is there now, and undefined when
 * it was not done. While nobody can tell, the error of the write stands, with `outcome: unknown`.
 */
export const writeOnce = async <T>(
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

/** The same for a write of a pull request, which is read again where nobody knows: it `isDone`, or the error stands. */
export const writePull = (
  { hosted, number }: { hosted: HostedRepository; number: number },
  write: () => Promise<Pull>,
  isDone: (now: Pull) => boolean,
): Promise<Pull> =>
  writeOnce(write, async () => {
    const now = await hosted.pull(number);
    return isDone(now) ? now : undefined;
  });

/** What a step that is not the point of a call told when it failed, as a warning in its answer. */
export const warningOf = (what: string, error: unknown): string => {
  if (error instanceof ServiceError) return `${what}: ${error.message}`;
  throw error;
};

/** The record of the Work item's pull request. 404, with what to do, where there is none. Throws `unreadable_record`. */
export const getPull = (store: Store, caseId: string): StoredPull => {
  checkCase(store, caseId);
  const kept = readPull(store, caseId);
  if (kept !== undefined) return kept;
  throw new ServiceError(
    'not_found',
    `The Work item ${caseId} has no pull request yet. Look at GET /api/cases/${caseId}/pr/draft, then make it with POST /api/cases/${caseId}/pr/create.`,
  );
};

/** The same for what only an open one can be asked: 422 once it is closed or merged. */
export const getOpenPull = (store: Store, caseId: string): StoredPull => {
  const kept = getPull(store, caseId);
  const { state, number } = kept.matter;
  if (isOpen(state)) return kept;
  throw invalidState(
    `Pull request #${number} is ${state}. If that has changed on the host, send POST /api/cases/${caseId}/pr/sync-state.`,
  );
};

/** Neither closed nor merged. */
export const isOpen = (state: PullState): boolean => state === 'draft' || state === 'open';

/** Where it is on the host. */
export const hostedFor = (codeHost: () => CodeHost, { matter }: StoredPull): HostedRepository =>
  hostedRepositoryNamed(codeHost, repositoryNamed(matter.host, matter.repository));

/** The record as it is served. */
export const servedPull = ({ case_id, matter, body }: StoredPull): PullRequest => {
  const { host, repository, number, title, state, head_ref, base_ref } = matter;
  const { url = null, author = null, head_owner = null, head_sha = null, labels = [] } = matter;
  const { review_decision = null, checks = null, mergeable = null, head_in_sync = null } = matter;
  const { published_sha256 = null, proof_comment = null, synced_at = null } = matter;
  const { created_at = null, updated_at = null, merged_at = null, closed_at = null } = matter;
  const { stale = false, notes = '' } = matter;
  return {
    ...{ case_id, host, repository, number, url, title, body, state, author },
    ...{ head_owner, head_ref, head_sha, base_ref, labels },
    ...{ review_decision, checks, mergeable, head_in_sync, stale },
    ...{ published_sha256, proof_comment, created_at, updated_at, merged_at, closed_at },
    ...{ synced_at, notes: notes ?? '' },
  };
};

/**
 * One at a time for the pull request of a Work item, for as long as the host takes: what is told first is written first.
 * Taken outside of the worktree's turn and of the Work item's own, never within them.
 */
export const inPullTurn = <T>(
  { locks }: Store,
  caseId: string,
  work: () => Promise<T>,
): Promise<T> => locks.take(lockOn.pull(caseId), work);

/** What most of this room's work is given. */
export type PullNeeds = WithCodeHost & WithStore;
