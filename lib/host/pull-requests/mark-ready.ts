import type { StoredPull } from '../../../store/codehost/pulls.ts';
import type { NewTransition } from '../../../store/codehost/timeline.ts';
import type { Gate } from '../../../store/records/proof.ts';
import type { MarkedReady } from '../../../store/records/pull-call.ts';
import type { ReadyCheck } from '../../../store/records/pull-status.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import type { Pull } from '../../codehost/code-host.ts';
import { afterDone, invalidState, ServiceError } from '../../errors.ts';
import { getGate } from '../../work/proof/checklist.ts';
import type { SessionNeeds } from '../../work/sessions/live/needs.ts';
import { verifiedProofs } from './compose.ts';
import { hostedToWrite } from './own-pull.ts';
import { postProof, refuseVerifiedElsewhere } from './proof-comment.ts';
import { evaluate, readFindings } from './ready-check.ts';
import {
  getOpenPull,
  hostedFor,
  type PullNeeds,
  recordPull,
  toPullRequest,
  underPullLock,
  warningOf,
  writePull,
} from './record.ts';
import { addTransitions, transitionsOf } from './timeline.ts';

/**
 * Marks a draft as ready, after the proof gate (422 `proof_gate_blocked`) and every other check (422 `invalid_state`),
 * then posts the proof as a comment. A failed comment is only a warning.
 */
export const markReady = (service: SessionNeeds, caseId: string): Promise<MarkedReady> =>
  underPullLock(service.store, caseId, async () => {
    const before = getOpenPull(service.store, caseId);
    refuseUnproved(await getGate(service, caseId));
    const found = await readFindings(service, before);
    refuseUnproved(found.gate);
    refuseVerifiedElsewhere(await verifiedProofs(service.store, caseId));
    refuseUnready(evaluate(found));
    const changed = found.pull.state === 'draft';
    const pull = changed ? await endDraft(service, before) : found.pull;
    const checked = found.pull.head_sha;
    const done = changed ? `#${pull.number} was marked as ready for review` : undefined;
    return afterDone(done, async () => {
      const kept = await recordReady(service, before, { pull, checked, changed });
      const warnings = checked === pull.head_sha ? [] : [movedSince(checked, pull)];
      const comment = await postProof(service, kept).catch((error: unknown) => {
        warnings.push(warningOf('Posting the proof failed; send …/pr/comment-proof', error));
        return null;
      });
      return {
        ...toPullRequest(comment?.kept ?? kept),
        changed,
        comment: comment?.posted ?? null,
        warnings,
      };
    });
  });

const refuseUnproved = ({ satisfied, missing }: Gate): void => {
  if (satisfied) return;
  throw new ServiceError(
    'proof_gate_blocked',
    `Not proved: ${missing.map(({ description }) => description).join('; ')}. Attach proof, verify it, then try again.`,
    { members: { missing } },
  );
};

const refuseUnready = ({ ready, checks }: ReadyCheck): void => {
  if (ready) return;
  const failed = checks.filter(({ ok }) => !ok);
  throw invalidState(
    `The pull request is not ready: ${failed.map(({ detail }) => detail).join('; ')}. Fix this, then try again.`,
    { members: { checks: failed } },
  );
};

const endDraft = async (service: HostedNeeds, kept: StoredPull): Promise<Pull> => {
  const hosted = await hostedToWrite(service, kept);
  const { number } = kept.matter;
  const pull = await writePull(
    { hosted, number },
    () => hosted.markReady(number),
    // A closed one may be a draft still.
    (now) => now.state === 'open' || now.state === 'merged',
  );
  if (pull.state !== 'draft') return pull;
  throw new ServiceError(
    'codehost_upstream',
    `The host accepted the request, but #${number} is still a draft. Check it there, then try again.`,
  );
};

const movedSince = (checked: string, { number, head_sha }: Pull): string =>
  `#${number} was marked ready at ${head_sha.slice(0, 12)}, which was pushed after ${checked.slice(0, 12)} had been checked. Look at it on the host, and send …/pr/ready-check.`;

const recordReady = async (
  service: PullNeeds,
  before: StoredPull,
  { pull, checked, changed }: { pull: Pull; checked: string; changed: boolean },
): Promise<StoredPull> => {
  const { name } = hostedFor(service.codeHost, before);
  const kept = await recordPull(service.store, before.case_id, {
    name,
    pull,
    // The remote was at the checked commit; where it is now was not asked.
    besides: { head_in_sync: pull.head_sha === checked ? true : null },
  });
  if (changed)
    await addTransitions(service.store, before.case_id, await readied(service, kept, pull));
  return kept;
};

// Uses the host's id and time of the transition, where it reports them now; the next sync also recognizes the
// transition without them.
const readied = async (
  { store, codeHost }: PullNeeds,
  kept: StoredPull,
  pull: Pull,
): Promise<NewTransition[]> => {
  const observed_at = store.clock().toISOString();
  const { events } = await hostedFor(codeHost, kept)
    .pullEvents(pull.number)
    .catch(() => ({ events: [] }));
  const told = transitionsOf(pull, events, { observed_at, source: 'sync' });
  const last = told.findLast(({ event }) => event === 'ready');
  if (last !== undefined)
    return told.map((each) => (each === last ? { ...each, source: 'service' } : each));
  return [
    {
      number: pull.number,
      event: 'ready',
      from: 'draft',
      to: pull.state,
      observed_at,
      occurred_at: observed_at,
      source: 'service',
      actor: null,
      head_sha: pull.head_sha,
      host_event_id: null,
    },
  ];
};
