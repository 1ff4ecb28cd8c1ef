import { sha256 } from '../base/sha256.ts';
import type { MessageMatter } from '../records/message.ts';
import { isEnded, type Session, type SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';

/** A session's record, with the id of its Work item. */
interface SessionOfItem {
  case_id: string;
  matter: SessionMatter;
}

type WithConsent = Pick<Store, 'consent'>;

/** Records that the operator started a session, with the inputs of its Plan turn. On disk when it returns. */
export const grantStart = (store: WithConsent, session: SessionOfItem): void =>
  store.consent.grant([{ key: startKey(session), value: startOf(session) }]);

/**
 * Records that the operator asked for another plan with this feedback. An approval of an earlier one, whose record git may
 * bring back, no longer counts.
 */
export const grantFeedback = ({ consent }: WithConsent, { id }: SessionMatter, feedback: string) =>
  consent.grant([
    { key: keyOf(id, 'feedback'), value: sha256(feedback) },
    ...without(consent, keyOf(id, 'approved')),
  ]);

const without = (consent: WithConsent['consent'], key: string): { key: string }[] =>
  consent.list().has(key) ? [{ key }] : [];

type Sent = Pick<MessageMatter, 'id' | 'mode' | 'sha256'>;

/** Records a message from the operator to a session, by its hash. In Plan mode it asks for another plan. On disk when it returns. */
export const grantMessage = (store: WithConsent, id: string, sent: Sent): void => {
  const value = [...sentMessages(store, id), sentValue(sent)];
  const before = sent.mode === 'plan' ? without(store.consent, keyOf(id, 'approved')) : [];
  store.consent.grant([{ key: keyOf(id, 'messages'), value }, ...before]);
};

/** Whether the operator sent this message to a session, in this mode and on this machine. */
export const isMessageGranted = (store: WithConsent, id: string, sent: Sent): boolean =>
  sentMessages(store, id).includes(sentValue(sent));

// What was said of a plan is no instruction for the work, and a message counts under its own id alone.
const sentValue = ({ id, mode, sha256 }: Sent): string => `${mode} ${id} ${sha256}`;

const sentMessages = ({ consent }: WithConsent, id: string): unknown[] => {
  const value = consent.list().get(keyOf(id, 'messages'))?.value;
  return Array.isArray(value) ? value : [];
};

/** Records that the operator created a session with an approved plan, its comment. */
export const grantPlanGiven = (store: WithConsent, session: SessionOfItem, by: string): void =>
  store.consent.grant([
    { key: keyOf(session.matter.id, 'plan'), value: givenPlanValue(session, by) },
  ]);

/** The plan that a session was created with, and its approver; undefined if there is none. */
export const planGivenTo = (
  { consent }: WithConsent,
  session: SessionOfItem,
): { plan: string; by: string } | undefined => {
  const { id, comment } = session.matter;
  const key = keyOf(id, 'plan');
  const { by } = Object(consent.list().get(key)?.value) as { by?: unknown };
  if (typeof comment !== 'string' || typeof by !== 'string') return undefined;
  return consent.isGranted(key, givenPlanValue(session, by)) ? { plan: comment, by } : undefined;
};

const givenPlanValue = (session: SessionOfItem, by: string) => ({ ...startOf(session), by });

/**
 * Records that the operator approved the text whose hash is in the record, with the inputs of the Work turn. A plan given at
 * the creation counts once: with an older session.md it would be approved again.
 */
export const grantApproval = ({ consent }: WithConsent, session: SessionOfItem): void => {
  const given = keyOf(session.matter.id, 'plan');
  consent.grant([
    { key: approvalKey(session), value: approvalOf(session) },
    ...without(consent, given),
  ]);
};

/**
 * Records whether a sandbox enclosed what the operator was shown of a session. If so, nothing of it runs without one. The
 * consent log has it, so that no edit of session.md turns the sandbox off.
 */
export const noteSandboxed = (store: WithConsent, id: string, sandboxed: boolean): void => {
  if (isSandboxed(store, id) === sandboxed) return;
  const note = { key: keyOf(id, 'sandboxed'), value: sandboxed || undefined };
  // An approval with a sandbox ends with its note: an older session.md would bring it back without one.
  const approval = sandboxed ? [] : [{ key: keyOf(id, 'approved') }];
  store.consent.grant([note, ...approval], 'tightening');
};

/** Whether the plan of a session was shown with a sandbox. */
export const isSandboxed = ({ consent }: WithConsent, id: string): boolean =>
  consent.isGranted(keyOf(id, 'sandboxed'), true);

/** Revokes all consent for a session: once ended, it never runs again, whatever its files say. */
export const revokeSession = ({ consent }: WithConsent, id: string): void =>
  consent.grant(
    ['started', 'feedback', 'messages', 'plan', 'approved', 'sandboxed'].map((what) => ({
      key: keyOf(id, what),
      revoked: true,
    })),
  );

/**
 * What a session's files claim without a record on this machine: that it was `started`, or that its plan was `approved`.
 * Claims that came by git or were written by hand run nothing. Undefined if the operator decided on this machine, and for
 * ended sessions.
 */
export const unconfirmedIn = (
  store: WithConsent,
  session: SessionOfItem,
): Session['unconfirmed'] => {
  const { mode, status } = session.matter;
  if (isEnded(status)) return undefined;
  const { consent } = store;
  if (mode === 'work')
    return consent.isGranted(approvalKey(session), approvalOf(session)) ? undefined : 'approved';
  const isStarted = consent.isGranted(startKey(session), startOf(session));
  return isStarted && isFeedbackGranted(store, session.matter) ? undefined : 'started';
};

const isFeedbackGranted = ({ consent }: WithConsent, { id, feedback }: SessionMatter): boolean =>
  typeof feedback !== 'string' || consent.isGranted(keyOf(id, 'feedback'), sha256(feedback));

const keyOf = (id: string, what: string): string => `sessions/${id}/${what}`;
const startKey = ({ matter: { id } }: SessionOfItem): string => keyOf(id, 'started');
const approvalKey = ({ matter: { id } }: SessionOfItem): string => keyOf(id, 'approved');

const startOf = ({ case_id, matter }: SessionOfItem) => {
  const { type, provider, model = null, effort = null, comment, base } = matter;
  const of = { case_id, type, provider, model, effort };
  // Setup commands run in the base before there is a plan.
  return { ...of, comment: comment ? sha256(comment) : null, ...(base && { base }) };
};

// Includes the base, where the diff that the operator reviews begins.
const approvalOf = ({ case_id, matter }: SessionOfItem) => {
  const { type, provider, model = null, effort = null, branch = null, base_commit = null } = matter;
  const plan_sha256 = matter.approved_sha256 ?? matter.plan_sha256 ?? null;
  const unasked = matter.unasked?.length ? { unasked: matter.unasked } : {};
  return { case_id, plan_sha256, type, provider, model, effort, branch, base_commit, ...unasked };
};
