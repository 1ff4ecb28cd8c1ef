import { readComments } from '../../../../store/base/comments.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { trustCommandFor } from '../../../../store/base/text.ts';
import { withoutTracking } from '../../../../store/base/write-stage.ts';
import type { Session } from '../../../../store/records/session.ts';
import { saveBlocks } from '../../../../store/sessions/blocks.ts';
import { readCommentsFile } from '../../../../store/sessions/comments.ts';
import {
  grantApproval,
  grantFeedback,
  noteSandboxed,
  planGivenTo,
} from '../../../../store/sessions/consent.ts';
import { keepApproved, keepSentBack } from '../../../../store/sessions/plan-versions.ts';
import { newRunMarker } from '../../../../store/sessions/run-marker.ts';
import type { CurrentPlan } from '../../../../store/sessions/session-texts.ts';
import {
  readSession,
  type SessionRule,
  type StoredSession,
} from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { refuseMissing } from '../../../code/worktrees/create/create.ts';
import { ServiceError } from '../../../errors.ts';
import { saidBy } from '../../../guard/api-keys/keys.ts';
import { userName } from '../../../tools/git/read/user-name.ts';
import { repositoryOf } from '../../../tools/git/run/git.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';
import { checkTexts } from '../../cases/text.ts';
import { checkPlanningGate } from '../../planning/gate.ts';
import { decideWith } from '../guards/decide.ts';
import {
  approvedPlan,
  hasSandbox,
  refuseLost,
  refuseLostSandbox,
} from '../guards/preconditions.ts';
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
import { getStoredSession, withLaterWords } from './read.ts';

/** What the operator approves, and the API key that was sent, if any. */
interface ApprovalInput {
  seen?: string | undefined;
  /** The hash of the plan and its commands that run without asking. */
  approval_sha256?: string | undefined;
  /** Commands of the plan that still ask. */
  ask?: readonly string[] | undefined;
  key?: { name: string } | undefined;
  /** The approver, where it was recorded earlier. */
  by?: string;
}

/**
 * Approves plan.md as it is now, hand edits included, and starts Work mode with exactly this text, which is written to
 * approved.md before the record changes. The planning gate is checked under the same lock.
 */
export const approvePlan = async (
  service: SessionNeeds,
  caseId: string,
  id: string,
  yes: ApprovalInput = {},
): Promise<Session> => {
  const kept = await getStoredSession(service, caseId, id);
  // An approval that was given earlier pauses the session with the reason.
  if (yes.by === undefined) refuseLostSandbox(service, kept.session);
  if (kept.session.unconfirmed === 'approved') return approveAgain(service, kept, yes);
  // The work could not begin, and would fail with its approved plan.
  await refuseMissing(service.store, caseId);
  const { seen, approval_sha256, ask, key, by = saidBy(key) } = yes;
  const at = service.store.clock().toISOString();
  const name = await approverName(service, caseId, key);
  const unasked = {
    approval_sha256,
    ask,
    allowsPlanCommands: allowsPlanCommands(service, kept.session),
  };
  const run_marker = newRunMarker(service.store.layout, id);
  const approval = { seen, unasked, run_marker, at, by, name };
  const approved = await withSessionLock(service, kept, () =>
    decideWith(service, kept.session, (now) => approvalRule(service, now, approval)),
  );
  startWorkTurn(service, approved, { isResumed: false });
  return withLaterWords(service.engine, approved.session);
};

/** Approves the plan that the operator provided and approved when creating the session, by the hash of that text. */
export const approveProvidedPlan = async (
  service: SessionNeeds,
  { session: { case_id, id } }: StoredSession,
): Promise<void> => {
  const kept = readSession(service.store, case_id, id);
  if (kept?.session.status !== 'plan_ready') return;
  const given = planGivenTo(service.store, { case_id, matter: kept.matter });
  if (given === undefined) return;
  await approvePlan(service, case_id, id, { seen: sha256(given.plan), by: given.by });
};

// The rule runs before anything is written, and again on session.md as it is then, which may be edited in between.
const approvalRule = async (
  service: SessionNeeds,
  { session, matter, dir }: StoredSession,
  yes: Omit<Approval, 'plan'>,
): Promise<SessionRule> => {
  const { store } = service;
  const { case_id } = session;
  const rule =
    (plan: Approval['plan']): SessionRule =>
    (session, matter) => {
      const change = startWork({ ...yes, plan })(session, matter);
      checkPlanningGate(store, case_id);
      return change;
    };
  let change: ReturnType<SessionRule>;
  const check = (now: CurrentPlan): void => {
    const isNamed = (yes.seen ?? yes.unasked?.approval_sha256) !== undefined;
    if (!isNamed) refusePendingEdit(store, session, now);
    change = rule(now.plan)(session, matter);
  };
  // Until the record names it, approved.md approves nothing: a failure before that changed nothing.
  const plan = await withoutTracking(() => keepApproved(store, dir, check));
  const { approved_sha256 = null, unasked = null } = change ?? {};
  // Without the record, the stream would say what has run.
  if (session.provider === 'runbook')
    await saveBlocks(store.layout, { ...session, approved_sha256 }, []);
  recordApproval(service, session, { ...matter, approved_sha256, unasked });
  return rule(plan);
};

/**
 * Approves on this machine what a session's files claim was approved: approved.md with the hash in the record, and
 * continues the session. None of its commands runs without asking.
 */
const approveAgain = async (
  service: SessionNeeds,
  kept: StoredSession,
  { seen, approval_sha256, key }: ApprovalInput,
): Promise<Session> => {
  const { store } = service;
  const { case_id, id } = kept.session;
  // Without its worktree the session would take the approval, and could not run.
  await refuseLost(store, kept.session);
  const at = store.clock().toISOString();
  const approved_name = await approverName(service, case_id, key);
  await decideWith(service, kept.session, async (now) => {
    const { session, matter } = now;
    const content = approvedPlan(store, now);
    const plan_sha256 = session.approved_sha256 ?? session.plan_sha256 ?? '';
    const plan = { content, sha256: plan_sha256 };
    checkPlan(plan, seen);
    approvedCommands(plan, { ...NONE_UNASKED, approval_sha256 });
    checkPlanningGate(store, case_id);
    recordApproval(service, session, { ...matter, unasked: null });
    const approved_by = saidBy(key);
    return () => ({ approved_at: at, approved_by, approved_name, ...unaskedChange(matter) });
  });
  return resumeSession(service, case_id, { session_id: id });
};

// What was approved with a sandbox does not run without it, also where its plan was made without one.
const recordApproval = (
  { store, providers }: SessionNeeds,
  { case_id, id, provider }: Session,
  matter: StoredSession['matter'],
): void => {
  grantApproval(store, { case_id, matter });
  if (hasSandbox(providers().get(provider))) noteSandboxed(store, id, true);
};

const approverName = async (
  { config, git, store }: SessionNeeds,
  caseId: string,
  key: ApprovalInput['key'],
): Promise<string | null> => {
  const worktree = readWorktree(store, caseId);
  if (key !== undefined || worktree === undefined) return key?.name ?? null;
  // Only a label: without git it is missing.
  return userName(git.at(repositoryOf(worktree)), cleanEnvironment(config.env)).catch(() => null);
};

// The edit is pending, so the plan before it runs only where the caller names its hash.
const refusePendingEdit = (
  store: Store,
  { status }: Session,
  { plan, waits }: CurrentPlan,
): void => {
  if (status !== 'plan_ready' || !waits) return;
  throw new ServiceError(
    'plan_changed',
    `plan.md was edited while an unsandboxed process was running. Confirm the edit with ${trustCommandFor(store.layout)}, or approve the plan before it, which GET …/plan returns, by sending its plan_sha256.`,
    { members: { plan_sha256: plan?.sha256 } },
  );
};

/**
 * Sends the plan back with a comment, or with the unsent comments of comments.md. The agent plans again from its
 * current plan and these.
 */
export const revisePlan = async (
  service: SessionNeeds,
  caseId: string,
  id: string,
  comment?: string,
): Promise<Session> => {
  checkTexts({ comment });
  const kept = await getStoredSession(service, caseId, id);
  const revised = await withSessionLock(service, kept, () =>
    decideWith(service, kept.session, (now) => revisionRule(service.store, now, comment)),
  );
  // If this fails, the turn does it when it begins.
  await markCommentsSent(service.store, revised).catch((error: unknown) =>
    service.log.warn({ err: error, session_id: id }, 'comments.md was not marked as sent'),
  );
  startPlanTurn(service, revised);
  return revised.session;
};

const revisionRule = async (
  store: Store,
  { session, matter, dir }: StoredSession,
  said: string | undefined,
): Promise<SessionRule> => {
  const comment = said ?? readComments(readCommentsFile(store, dir).content).pending;
  const rule = requestChanges({ comment, run_marker: newRunMarker(store.layout, session.id) });
  rule(session, matter);
  await keepSentBack(store, dir);
  grantFeedback(store, matter, comment);
  return rule;
};
