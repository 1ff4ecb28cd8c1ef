import type { StoredPull } from '../../../store/codehost/pulls.ts';
import type { SyncedPull } from '../../../store/records/pull-call.ts';
import type { PullStatus } from '../../../store/records/pull-status.ts';
import type { WithStore } from '../../../store/store.ts';
import { readWorktree } from '../../../store/worktrees/worktrees.ts';
import { withLogin } from '../../code/projects/git-login.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import { getItem, repositoryFor } from '../../code/projects/project.ts';
import { stateOf } from '../../code/worktrees/inspect/status.ts';
import type { Pull } from '../../codehost/code-host.ts';
import type { WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { pushRemote, remoteCommit } from '../../tools/git/remote/remote.ts';
import type { Checkout, WithGit } from '../../tools/git/run/git.ts';
import {
  getPull,
  hostedFor,
  isOpen,
  recordPull,
  toPullRequest,
  underPullLock,
  warningOf,
} from './record.ts';
import { addTransitions, oddEvents, transitionsOf } from './timeline.ts';

/**
 * The current state of the pull request on the host, which is also recorded. An error of the host is thrown; the record
 * has the last known state.
 */
export const pullStatus = (service: HostedNeeds, caseId: string): Promise<PullStatus> =>
  underPullLock(service.store, caseId, async () => {
    const { kept, head } = await readHost(service, getPull(service.store, caseId));
    return statusOf(kept, head);
  });

interface ReadHost {
  kept: StoredPull;
  pull: Pull;
  head: RemoteHead;
}

/** Reads the host and the remote, and records the result. The caller holds the lock of the pull request. */
const readHost = async (service: HostedNeeds, kept: StoredPull): Promise<ReadHost> => {
  const hosted = hostedFor(service.codeHost, kept);
  const [pull, head] = await Promise.all([
    hosted.pull(kept.matter.number),
    remoteHead(service, kept),
  ]);
  const besides = { head_in_sync: inSync(pull, head) };
  const told = { name: hosted.name, pull, besides };
  return { kept: await recordPull(service.store, kept.case_id, told), pull, head };
};

/** Irrelevant once the pull request is closed, and without a branch on the remote. */
const inSync = ({ state, head_sha }: Pull, head: RemoteHead): boolean | null =>
  isOpen(state) && 'commit' in head && head.commit !== null ? head.commit === head_sha : null;

const statusOf = ({ case_id, matter }: StoredPull, head: RemoteHead): PullStatus => {
  const { number, state, base_ref, head_ref } = matter;
  const { url = null, head_sha = null, head_in_sync = null, mergeable = null } = matter;
  const { checks = null, review_decision = null, merged_at = null, synced_at = null } = matter;
  return {
    case_id,
    number,
    url,
    state,
    draft: state === 'draft',
    checks,
    review_decision,
    mergeable,
    base_ref,
    head_ref,
    head_sha,
    remote_head: 'commit' in head ? head.commit : null,
    head_in_sync,
    merged_at,
    fetched_at: synced_at ?? '',
    notes: notesOf(matter, head),
  };
};

const notesOf = (
  { mergeable, state, head_in_sync, checks_unread, reviews_unread }: StoredPull['matter'],
  head: RemoteHead,
): string[] => [
  ...('unknown' in head ? [head.unknown] : []),
  ...(isOpen(state) && 'commit' in head && head.commit === null ? [NO_BRANCH] : []),
  ...(head_in_sync === false
    ? [
        'The host does not have the newest commit of the branch yet, so this is the state of an older one.',
      ]
    : []),
  ...(reviews_unread == null ? [] : [`Not every review could be read: ${reviews_unread}.`]),
  ...(checks_unread == null ? [] : [`Not every check could be read. ${checks_unread}`]),
  ...(mergeable === null && isOpen(state)
    ? ['The host has not computed yet whether it can be merged.']
    : []),
];

/**
 * Reads the pull request and its history from the host and records both, including what users did there, for example a
 * merge. The state of the Work item does not change.
 */
export const syncPull = (service: HostedNeeds, caseId: string): Promise<SyncedPull> =>
  underPullLock(service.store, caseId, async () => {
    const before = getPull(service.store, caseId);
    const { number } = before.matter;
    const { events, unread } = await hostedFor(service.codeHost, before).pullEvents(number);
    const { kept, pull, head } = await readHost(service, before);
    const observed_at = kept.matter.synced_at ?? '';
    const all = transitionsOf(pull, events, { observed_at, source: 'sync' });
    const added = await addTransitions(service.store, caseId, all);
    const warnings = [...oddEvents(unread), ...('unknown' in head ? [head.unknown] : [])];
    return { ...toPullRequest(kept), added, warnings };
  });

export const NO_BRANCH = 'The remote does not have the branch.';

/** The commit of a pull request's branch on its remote, null without it, or why it is unknown. */
export type RemoteHead = { commit: string | null } | { unknown: string };

/**
 * Asks git instead of the code host, which may report an older commit right after a push. A ServiceError becomes
 * `unknown`.
 */
export const remoteHead = async (service: HostedNeeds, kept: StoredPull): Promise<RemoteHead> => {
  const { case_id, matter } = kept;
  try {
    const place = await checkoutFor(service, case_id);
    const remote = matter.remote ?? (await pushRemote(service.git.at(place), matter.head_ref));
    if (remote === undefined) return { unknown: 'The repository has no remote.' };
    const ref = `refs/heads/${matter.head_ref}`;
    const login = { place, remote, host: matter.host, direction: 'push' } as const;
    const commit = await withLogin(service, login, (asked) =>
      remoteCommit(service.git.at(place), { remote: asked, ref }),
    );
    return { commit };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { unknown: warningOf('Reading the branch on the remote failed', error) };
  }
};

/** The checkout with the configuration of the remotes: the worktree, or the project's repository once that is gone. */
const checkoutFor = async (
  service: WithConfig & WithGit & WithStore,
  caseId: string,
): Promise<Checkout> => {
  const worktree = readWorktree(service.store, caseId);
  if (worktree !== undefined && (await stateOf(worktree)) === 'ok') return worktree;
  const { project } = await getItem(service.store, caseId);
  return repositoryFor(service, project);
};
