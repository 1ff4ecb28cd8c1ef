import { trustHash } from '../consent/canonical.ts';
import type { Session } from '../records/session.ts';
import type { WaitingValue } from '../records/trust.ts';
import type { Store } from '../store.ts';
import { ifReadable } from '../text/problem.ts';
import { readApproved } from './approved.ts';
import { grantApproval, grantFeedback, grantStart } from './consent.ts';
import { readSession, type StoredSession } from './sessions.ts';

/**
 * Sessions that have not ended and whose files say that they were started, or approved, while this machine has no record of
 * it; each with what would run.
 */
export const unconfirmedSessions = (store: Store): WaitingValue[] =>
  openSessions(store).map((kept) => waitingOf(store, kept));

/** The same of one session; undefined where the operator decided all of it on this machine, or it is not followed here. */
export const unconfirmedSession = (
  store: Store,
  { case_id, id }: Pick<Session, 'case_id' | 'id'>,
): WaitingValue | undefined => {
  const kept = store.journal.runs.has(id) ? unconfirmedAt(store, case_id, id) : undefined;
  return kept && waitingOf(store, kept);
};

/**
 * Keeps that the operator confirms these, as far as they are what was looked at, and answers the ids of their Work items.
 */
export const confirmSessions = (store: Store, values: readonly WaitingValue[]): string[] => {
  const wanted = new Set(values.map(({ key, hash }) => `${key} ${hash}`));
  const meant = openSessions(store).filter((kept) => {
    const { key, hash } = waitingOf(store, kept);
    return wanted.has(`${key} ${hash}`);
  });
  for (const kept of meant) confirm(store, kept);
  return meant.map(({ session }) => session.case_id);
};

const openSessions = (store: Store): StoredSession[] =>
  [...store.journal.runs].flatMap(([id, { case_id }]) => unconfirmedAt(store, case_id, id) ?? []);

const unconfirmedAt = (store: Store, caseId: string, id: string): StoredSession | undefined => {
  const kept = ifReadable(() => readSession(store, caseId, id), undefined);
  return kept?.session.unconfirmed === undefined ? undefined : kept;
};

const confirm = (store: Store, { session, matter }: StoredSession): void => {
  const { case_id, unconfirmed } = session;
  if (unconfirmed === 'approved') {
    grantApproval(store, { case_id, matter });
    return;
  }
  grantStart(store, { case_id, matter });
  if (typeof matter.feedback === 'string') grantFeedback(store, matter, matter.feedback);
};

const waitingOf = (store: Store, { session, matter, dir }: StoredSession): WaitingValue => {
  const { id, path, type, mode, status, provider, created_at, unconfirmed } = session;
  const { model, effort, branch, base_commit, comment, feedback } = matter;
  const value = {
    ...{ type, mode, status, provider, model, effort, comment, feedback, branch, base_commit },
    ...(unconfirmed === 'approved' && {
      plan_sha256: session.approved_sha256 ?? session.plan_sha256,
      plan: ifReadable(() => readApproved(store, dir)?.content, undefined),
    }),
  };
  return {
    key: `sessions/${id}`,
    kind: unconfirmed === 'approved' ? 'approval' : 'session',
    file: `${path}/session.md`,
    value: JSON.parse(JSON.stringify(value)),
    trusted_value: null,
    hash: trustHash(value),
    since: created_at,
  };
};
