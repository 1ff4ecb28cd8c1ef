import { lockOn } from '../../../store/base/locks.ts';
import { readPull, type StoredPull } from '../../../store/codehost/pulls.ts';
import type { PullRequest } from '../../../store/records/pull-request.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { hostedRepositoryNamed } from '../../code/projects/hosted-repository.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import {
  type CodeHost,
  type HostedRepository,
  type PullState,
  repositoryNamed,
  type WithCodeHost,
} from '../../codehost/code-host.ts';
import { invalidState, ServiceError } from '../../errors.ts';

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
