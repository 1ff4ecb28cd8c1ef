import { sha256 } from '../base/sha256.ts';
import { isEnded, type Session, type SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';

/** A session's record, and the Work item that it is of. */
interface OfItem {
  case_id: string;
  matter: SessionMatter;
}

type WithConsent = Pick<Store, 'consent'>;

/** Keeps that the operator started a session, with all that its Plan turn goes by. On disk when it returns. */
export const grantStart = (store: WithConsent, session: OfItem): void =>
  store.consent.grant([{ key: startKey(session), value: startOf(session) }]);

/** Keeps that the operator wanted another plan, in these words. */
export const grantFeedback = (store: WithConsent, { id }: SessionMatter, feedback: string): void =>
  store.consent.grant([{ key: keyOf(id, 'feedback'), value: sha256(feedback) }]);

/** Keeps that the operator said this to a session: by its hash, beside what was said before. On disk when it returns. */
export const grantMessage = (store: WithConsent, id: string, hash: string): void =>
  store.consent.grant([{ key: keyOf(id, 'messages'), value: [...saidTo(store, id), hash] }]);

/** Whether the operator said the text with this hash to a session, on this machine. */
export const isMessageGranted = (store: WithConsent, id: string, hash: string): boolean =>
  saidTo(store, id).includes(hash);

const saidTo = ({ consent }: WithConsent, id: string): unknown[] => {
  const value = consent.list().get(keyOf(id, 'messages'))?.value;
  return Array.isArray(value) ? value : [];
};

/** Keeps that the operator approved the comment of a session as its plan when it was made. */
export const grantPlanGiven = (store: WithConsent, session: OfItem, by: string): void =>
  store.consent.grant([{ key: keyOf(session.matter.id, 'plan'), value: planGiven(session, by) }]);

/** The plan that the operator gave a session and approved with it, and in whose name; undefined where there is none. */
export const planGivenTo = (
  { consent }: WithConsent,
  session: OfItem,
): { plan: string; by: string } | undefined => {
  const { id, comment } = session.matter;
  const key = keyOf(id, 'plan');
  const { by } = Object(consent.list().get(key)?.value) as { by?: unknown };
  if (typeof comment !== 'string' || typeof by !== 'string') return undefined;
  return consent.isGranted(key, planGiven(session, by)) ? { plan: comment, by } : undefined;
};

const planGiven = (session: OfItem, by: string) => ({ ...startOf(session), by });

/** Keeps that the operator approved the text whose hash the record has, with all that its Work turn goes by. */
export const grantApproval = (store: WithConsent, session: OfItem): void =>
  store.consent.grant([{ key: approvalKey(session), value: approvalOf(session) }]);

/** Takes all of it back: what has ended runs no second time, whatever its files say later. */
export const revokeSession = ({ consent }: WithConsent, id: string): void =>
  consent.grant(
    ['started', 'feedback', 'messages', 'plan', 'approved'].map((what) => ({
      key: keyOf(id, what),
      revoked: true,
    })),
  );

/**
 * What a session's files say that this machine has no record of: that it was `started`, or that its plan was `approved`. What
 * came by git or was written by hand is a claim, and runs nothing. Undefined where the operator decided all of it here, and
 * for a session that has ended.
 */
export const unconfirmedIn = (store: WithConsent, session: OfItem): Session['unconfirmed'] => {
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
const startKey = ({ matter: { id } }: OfItem): string => keyOf(id, 'started');
const approvalKey = ({ matter: { id } }: OfItem): string => keyOf(id, 'approved');

const startOf = ({ case_id, matter }: OfItem) => {
  const { type, provider, model = null, effort = null, comment } = matter;
  return { case_id, type, provider, model, effort, comment: comment ? sha256(comment) : null };
};

// The base, too: the diff that the operator reads afterwards begins there.
const approvalOf = ({ case_id, matter }: OfItem) => {
  const { type, provider, model = null, effort = null, branch = null, base_commit = null } = matter;
  const plan_sha256 = matter.approved_sha256 ?? matter.plan_sha256 ?? null;
  const unasked = matter.unasked?.length ? { unasked: matter.unasked } : {};
  return { case_id, plan_sha256, type, provider, model, effort, branch, base_commit, ...unasked };
};
