import { StoreError } from '../../../../store/base/errors.ts';
import { isEnded, type Session } from '../../../../store/records/session.ts';
import { readApproved } from '../../../../store/sessions/approved.ts';
import { readPlan } from '../../../../store/sessions/session-texts.ts';
import {
  readSession,
  type StoredSession,
  sessionsOf,
  whereIs,
} from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { isWorktreeLost } from '../../../code/worktrees/create/create.ts';
import { invalidState, orNotFound, ServiceError } from '../../../errors.ts';
import { getCase } from '../../cases/read.ts';
import { refuseElsewhere } from '../rules/rules.ts';
import { awaitDecisions } from './decide.ts';

/**
 * The session that holds the lock, or the oldest that has not ended. 422 when there is none, or only one that another
 * machine runs; 409 when it is not the one that the caller means.
 */
export const activeSession = async (
  { store }: WithStore,
  caseId: string,
  meant?: string,
): Promise<StoredSession> => {
  await getCase(store, caseId);
  await awaitDecisions(store, caseId);
  if (meant !== undefined) orNotFound(readSession(store, caseId, meant), 'session', meant);
  const open = (sessionsOf(store, caseId) ?? []).filter(({ session }) => !isEnded(session.status));
  const ours = open.filter(({ session }) => session.elsewhere !== true);
  const active = ours.find(({ session }) => session.status !== 'queued') ?? ours[0];
  if (active !== undefined && (meant ?? active.session.id) !== active.session.id)
    throw otherSession(active.session);
  if (active !== undefined) return active;
  for (const { session } of open) refuseElsewhere(session);
  throw invalidState('The Work item has no active session.');
};

const otherSession = ({ id, status }: Session): ServiceError =>
  new ServiceError(
    'other_session_active',
    `Another session of the Work item is active by now: ${id} (${status}). Nothing was done. Look at that one, and name it if it is meant.`,
    { members: { session_id: id } },
  );

/**
 * The text that runs: approved.md, if it is what was approved. Throws `approval_mismatch` when it is not. A session that an
 * older version approved has no such file, and plan.md must be what it was then, else `plan_changed`.
 */
export const approvedPlan = (store: Store, kept: StoredSession): string => {
  const { approved_sha256, plan_sha256 } = kept.session;
  const dir = whereIs(store, kept);
  if (approved_sha256 === null) {
    const plan = readPlan(store, dir);
    if (plan === undefined || plan.sha256 !== plan_sha256) throw approvedPlanChanged();
    return plan.content;
  }
  const approved = readPlainly(() => readApproved(store, dir));
  if (approved === undefined) throw mismatch('approved.md is not there any more');
  if (approved.sha256 !== approved_sha256) throw mismatch('approved.md is not what was approved');
  return approved.content;
};

const readPlainly = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError) throw mismatch('approved.md is not a plain file any more');
    throw error;
  }
};

const mismatch = (what: string): ServiceError =>
  new ServiceError(
    'approval_mismatch',
    `${what} (its SHA-256 is in session.md), and nothing else runs in its place. Put the approved text back, or abort the session and plan anew.`,
  );

const approvedPlanChanged = (): ServiceError =>
  new ServiceError(
    'plan_changed',
    'plan.md is no longer what was approved. Put the approved text back, or abort the session and plan anew.',
  );

/** What is lost, as a sentence, of Work mode whose worktree is gone with its record; undefined when it can go on. */
export const lostWork = async (
  store: Store,
  { case_id, mode, branch }: Session,
): Promise<string | undefined> => {
  if (mode !== 'work' || !(await isWorktreeLost(store, case_id))) return undefined;
  return `The session was stopped, and its worktree is gone since, as when .dossier/ is removed. What was not committed there is lost; commits are on the branch ${branch}. Abort the session, then create a new one.`;
};

/** Throws 409 `worktree_missing` for a paused session of this kind: its plan would go on where nothing was begun. */
export const refuseLost = async (store: Store, session: Session): Promise<void> => {
  const lost = session.status === 'paused' ? await lostWork(store, session) : undefined;
  if (lost !== undefined) throw new ServiceError('worktree_missing', lost);
};
