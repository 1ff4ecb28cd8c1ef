import type { StoredPull } from '../../../store/codehost/pulls.ts';
import type { NewTransition } from '../../../store/codehost/timeline.ts';
import type { Gate } from '../../../store/records/proof.ts';
import type { MarkedReady } from '../../../store/records/pull-call.ts';
import type { ReadyCheck } from '../../../store/records/pull-status.ts';
import type { Store } from '../../../store/store.ts';
import type { CodeHost, Pull } from '../../codehost/code-host.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { getGate } from '../../work/proof/checklist.ts';
import type { SessionNeeds } from '../../work/sessions/live/needs.ts';
import { verifiedProofs } from './compose.ts';
import { postProof } from './proof-comment.ts';
import { judged, lookAround } from './ready-check.ts';
import {
  getOpenPull,
  hostedFor,
  inPullTurn,
  type PullNeeds,
  recordPull,
  servedPull,
  warningOf,
  writePull,
} from './record.ts';
import { addTransitions, transitionsOf } from './timeline.ts';

/**
 * Ends the draft, behind the proof gate (422 `proof_gate_blocked`) and every other check (422 `invalid_state`); then shows
 * the proof in its comment. A comment that fails is a warning: the pull request is ready all the same.
 */
export const markReady = (service: SessionNeeds, caseId: string): Promise<MarkedReady> =>
  inPullTurn(service.store, caseId, async () => {
    const before = getOpenPull(service.store, caseId);
    refuseUnproved(await getGate(service, caseId));
    const found = await lookAround(service, before);
    refuseUnproved(found.gate);
    await refuseVerifiedElsewhere(service.store, caseId);
    refuseUnready(judged(found));
    const changed = found.pull.state === 'draft';
    const pull = changed ? await endDraft(service.codeHost, before) : found.pull;
    const kept = await recordReady(service, before, { pull, changed });
    const warnings: string[] = [];
    const comment = await postProof(service, kept).catch((error: unknown) => {
      warnings.push(warningOf('The proof was not shown; send …/pr/comment-proof', error));
      return null;
    });
    return {
      ...servedPull(comment?.kept ?? kept),
      changed,
      comment: comment?.posted ?? null,
      warnings,
    };
  });

const refuseUnproved = ({ satisfied, missing }: Gate): void => {
  if (satisfied) return;
  throw new ServiceError(
    'proof_gate_blocked',
    `Not proved: ${missing.map(({ description }) => description).join('; ')}. Attach proof, verify it, then try again.`,
    { members: { missing } },
  );
};

// What is shown to reviewers as verified has to be what the operator verified here.
const refuseVerifiedElsewhere = async (store: Store, caseId: string): Promise<void> => {
  const proofs = await verifiedProofs(store, caseId);
  const elsewhere = proofs.filter(({ verified_elsewhere }) => verified_elsewhere === true);
  if (elsewhere.length === 0) return;
  const named = elsewhere.map(({ type, id }) => `${type} ${id}`).join(', ');
  throw new ServiceError(
    'verified_elsewhere',
    `Verified by file, not on this machine: ${named}. Look at each and verify it again (PUT …/proof/ID/verify), then mark it ready.`,
    { members: { proofs: elsewhere.map(({ id }) => id) } },
  );
};

const refuseUnready = ({ ready, checks }: ReadyCheck): void => {
  if (ready) return;
  const failed = checks.filter(({ ok }) => !ok);
  throw invalidState(
    `It is not ready: ${failed.map(({ detail }) => detail).join('; ')}. Settle that, then mark it again.`,
    { members: { checks: failed } },
  );
};

const endDraft = async (codeHost: () => CodeHost, kept: StoredPull): Promise<Pull> => {
  const hosted = hostedFor(codeHost, kept);
  const { number } = kept.matter;
  const pull = await writePull(
    { hosted, number },
    () => hosted.markReady(number),
    (now) => now.state !== 'draft',
  );
  if (pull.state !== 'draft') return pull;
  throw new ServiceError(
    'codehost_upstream',
    `The host took it, and #${number} is a draft all the same. Look at it there, then try again.`,
  );
};

const recordReady = async (
  service: PullNeeds,
  before: StoredPull,
  { pull, changed }: { pull: Pull; changed: boolean },
): Promise<StoredPull> => {
  const { name } = hostedFor(service.codeHost, before);
  const kept = await recordPull(service.store, before.case_id, {
    name,
    pull,
    besides: { head_in_sync: true },
  });
  if (changed)
    await addTransitions(service.store, before.case_id, await readied(service, kept, pull));
  return kept;
};

// With the host's own id and time, where it tells them now; the next sync knows the transition again without, too.
const readied = async (
  { store, codeHost }: PullNeeds,
  kept: StoredPull,
  pull: Pull,
): Promise<NewTransition[]> => {
  const observed_at = store.clock().toISOString();
  const events = await hostedFor(codeHost, kept)
    .pullEvents(pull.number)
    .catch(() => []);
  const told = transitionsOf(pull, events, { observed_at, source: 'sync' });
  const last = told.findLast(({ event }) => event === 'ready');
  if (last !== undefined)
    return told.map((each) => (each === last ? { ...each, source: 'service' } : each));
  return [
    {
      ...{ number: pull.number, event: 'ready', from: 'draft', to: pull.state, observed_at },
      ...{ occurred_at: observed_at, source: 'service', actor: null },
      ...{ head_sha: pull.head_sha, host_event_id: null },
    },
  ];
};
