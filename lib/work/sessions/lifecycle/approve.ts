import { readComments } from '../../../../store/base/comments.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import type { Session } from '../../../../store/records/session.ts';
import { keepApproved } from '../../../../store/sessions/approved.ts';
import { readCommentsFile } from '../../../../store/sessions/comments.ts';
import { grantApproval, grantFeedback, planGivenTo } from '../../../../store/sessions/consent.ts';
import { newRunMarker } from '../../../../store/sessions/run-marker.ts';
import { keepSentBack } from '../../../../store/sessions/sent-back.ts';
import type { PlanNow } from '../../../../store/sessions/session-texts.ts';
import {
  readSession,
  type SessionRule,
  type StoredSession,
} from '../../../../store/sessions/sessions.ts';
import { trustCommandFor } from '../../../../store/settings/trust/told.ts';
import type { Store } from '../../../../store/store.ts';
import { notFound, orNotFound, ServiceError } from '../../../errors.ts';
import { saidBy } from '../../../guard/api-keys/said-by.ts';
import { refuseClosedGate } from '../../planning/gate.ts';
import { decideWith } from '../guards/decide.ts';
import { approvedPlan } from '../guards/preconditions.ts';
import type { SessionNeeds } from '../live/needs.ts';
import {
  type Approval,
  approvedCommands,
  checkPlan,
  NONE_UNASKED,
  requestChanges,
  startWork,
  unaskedChange,
} from '../rules/approval.ts';
import { markCommentsSent } from '../turns/plan-turn.ts';
import { allowsPlanCommands } from './boundary.ts';
import { resumeSession } from './control.ts';
import { startPlanTurn, startWorkTurn, withSessionLock } from './launch.ts';
import { getStoredSession } from './read.ts';

/** What the operator read, and the API key that was shown, if one was. */
interface ApprovalInput {
  seen?: string | undefined;
  /** Of the plan, and of what of it runs without asking. */
  approval_sha256?: string | undefined;
  /** Commands of the plan that are asked for all the same. */
  ask?: readonly string[] | undefined;
  key?: { name: string } | undefined;
  /** In whose name, where that was said before. */
  by?: string;
}

/**
 * Approves the plan as it stands in plan.md, edited by hand or not, and starts Work mode with exactly this text: it is
 * kept as approved.md before the record says so. The planning gate is looked at in the same moment.
 */
export const approvePlan = async (
  service: SessionNeeds,
  caseId: string,
  id: string,
  yes: ApprovalInput = {},
): Promise<Session> => {
  const kept = await getStoredSession(service, caseId, id);
  if (kept.session.unconfirmed === 'approved') return approveAgain(service, kept, yes);
  const { seen, approval_sha256, ask, key, by = saidBy(key) } = yes;
  const at = service.store.clock().toISOString();
  const unasked = {
    approval_sha256,
    ask,
    allowsPlanCommands: allowsPlanCommands(service, kept.session),
  };
  const approval = { seen, unasked, run_marker: newRunMarker(service.store.layout, id), at, by };
  const approved = await withSessionLock(service, kept, () =>
    decideWith(service, caseId, id, () => ruleFor(service.store, kept, approval)),
  );
  if (approved === undefined) throw notFound('session', id);
  startWorkTurn(service, approved, { isResumed: false });
  return approved.session;
};

/** Approves the plan that the operator gave a session, and approved with it, once it is there: that text, by its hash. */
export const approveGiven = async (
  service: SessionNeeds,
  { session: { case_id, id } }: StoredSession,
): Promise<void> => {
  const kept = readSession(service.store, case_id, id);
  if (kept?.session.status !== 'plan_ready') return;
  const given = planGivenTo(service.store, { case_id, matter: kept.matter });
  if (given === undefined) return;
  await approvePlan(service, case_id, id, { seen: sha256(given.plan), by: given.by });
};

// The same rule before anything is written and on what was written: in between somebody may have saved plan.md.
const ruleFor = async (
  store: Store,
  kept: StoredSession,
  yes: Omit<Approval, 'plan'>,
): Promise<SessionRule> => {
  const { case_id, id } = kept.session;
  const rule =
    (plan: Approval['plan']): SessionRule =>
    (session, matter) => {
      const change = startWork({ ...yes, plan })(session, matter);
      refuseClosedGate(store, case_id);
      return change;
    };
  // Read again: what was read before the lock was had may be another by now.
  const current = readSession(store, case_id, id);
  if (current === undefined) return rule(undefined);
  const check = (now: PlanNow): void => {
    const isNamed = (yes.seen ?? yes.unasked?.approval_sha256) !== undefined;
    if (!isNamed) refusePendingEdit(store, current, now);
    rule(now.plan)(current.session, current.matter);
  };
  const plan = await keepApproved(store, current.dir, check);
  const { approved_sha256 = null, unasked = null } =
    rule(plan)(current.session, current.matter) ?? {};
  grantApproval(store, { case_id, matter: { ...current.matter, approved_sha256, unasked } });
  return rule(plan);
};

/**
 * Approves on this machine what a session's files say was approved: the text of approved.md, with the hash that the record
 * has, and goes on with the session. Of the commands that they say run without asking each is asked for.
 */
const approveAgain = async (
  service: SessionNeeds,
  { session: { case_id, id } }: StoredSession,
  { seen, approval_sha256, key }: ApprovalInput,
): Promise<Session> => {
  const { store } = service;
  const at = store.clock().toISOString();
  await decideWith(service, case_id, id, async () => {
    const current = orNotFound(readSession(store, case_id, id), 'session', id);
    const { session, matter } = current;
    const content = approvedPlan(store, current);
    const plan_sha256 = session.approved_sha256 ?? session.plan_sha256 ?? '';
    const plan = { content, sha256: plan_sha256 };
    checkPlan(plan, seen);
    approvedCommands(plan, { ...NONE_UNASKED, approval_sha256 });
    refuseClosedGate(store, case_id);
    grantApproval(store, { case_id, matter: { ...matter, unasked: null } });
    return () => ({ approved_at: at, approved_by: saidBy(key), ...unaskedChange(matter) });
  });
  return resumeSession(service, case_id, { session_id: id });
};

// Who edited plan.md by hand means that text: the one before it runs only for who names it.
const refusePendingEdit = (
  store: Store,
  { session }: StoredSession,
  { plan, waits }: PlanNow,
): void => {
  if (session.status !== 'plan_ready' || !waits) return;
  throw new ServiceError(
    'plan_changed',
    `plan.md was written by file while a program ran that no sandbox held, and that waits for you: ${trustCommandFor(store.layout)} takes it. To approve the plan before it, which GET …/plan shows, send its plan_sha256.`,
    { members: { plan_sha256: plan?.sha256 } },
  );
};

/**
 * Sends the plan back with the operator's words, or with the comments that were not sent yet: the agent plans again, from
 * its plan as it stands and from these.
 */
export const revisePlan = async (
  service: SessionNeeds,
  caseId: string,
  id: string,
  comment?: string,
): Promise<Session> => {
  const kept = await getStoredSession(service, caseId, id);
  const revised = await withSessionLock(service, kept, () =>
    decideWith(service, caseId, id, () => revisionFor(service.store, kept, comment)),
  );
  if (revised === undefined) throw notFound('session', id);
  // Should that fail, it is done as the turn begins.
  await markCommentsSent(service.store, revised).catch((error: unknown) =>
    service.log.warn({ err: error, session_id: id }, 'comments.md does not say what was sent'),
  );
  startPlanTurn(service, revised);
  return revised.session;
};

const revisionFor = async (
  store: Store,
  { session: { case_id, id }, dir: before }: StoredSession,
  said: string | undefined,
): Promise<SessionRule> => {
  const current = readSession(store, case_id, id);
  const dir = current?.dir ?? before;
  const comment = said ?? readComments(readCommentsFile(store, dir).content).pending;
  const rule = requestChanges({ comment, run_marker: newRunMarker(store.layout, id) });
  if (current !== undefined) {
    rule(current.session, current.matter);
    await keepSentBack(store, dir);
    grantFeedback(store, current.matter, comment);
  }
  return rule;
};
