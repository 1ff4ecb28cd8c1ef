import type { PullRequest, PullTransition } from '../../../store/records/pull-request.ts';
import type { HostedNeeds } from '../../code/projects/hosted.ts';
import { getPull, hostedFor, inPullTurn, servedPull } from './current.ts';
import { readHost } from './status.ts';
import { addTransitions, transitionsOf } from './timeline.ts';

interface SyncedPull extends PullRequest {
  /** What was not known before, oldest first. */
  added: PullTransition[];
  warnings: string[];
}

/**
 * Reads the pull request from the host, with all that has happened to it, and records both. What a human did there, a
 * merge too, is taken over; the Work item's own state stays as it is.
 */
export const syncPull = (service: HostedNeeds, caseId: string): Promise<SyncedPull> =>
  inPullTurn(service.store, caseId, async () => {
    const before = getPull(service.store, caseId);
    const events = await hostedFor(service.codeHost, before).pullEvents(before.matter.number);
    const { kept, pull, head } = await readHost(service, before);
    const observed_at = kept.matter.synced_at ?? '';
    const all = transitionsOf(pull, events, { observed_at, source: 'sync' });
    const added = await addTransitions(service.store, caseId, all);
    return { ...servedPull(kept), added, warnings: 'unknown' in head ? [head.unknown] : [] };
  });
