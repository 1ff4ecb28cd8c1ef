import { messageOf } from '../../../../store/base/attempt.ts';
import { StoreError } from '../../../../store/base/errors.ts';
import { sandboxSettings } from '../../../../store/records/applied.ts';
import { isEnded, type Session } from '../../../../store/records/session.ts';
import { isSandboxed } from '../../../../store/sessions/consent.ts';
import { readLock } from '../../../../store/sessions/locks.ts';
import { readApproved } from '../../../../store/sessions/plan-versions.ts';
import { readPlan } from '../../../../store/sessions/session-texts.ts';
import {
  hasRecord,
  readSession,
  type StoredSession,
  sessionDirOf,
  sessionsOf,
} from '../../../../store/sessions/sessions.ts';
import { settingsOf } from '../../../../store/settings/globals.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import type { Provider } from '../../../agents/provider.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import { isWorktreeGone } from '../../../code/worktrees/create/create.ts';
import { invalidState, orNotFound, ServiceError } from '../../../errors.ts';
import { getCase } from '../../cases/read.ts';
import { refuseElsewhere } from '../rules/rules.ts';
import { awaitDecisions } from './decide.ts';

/** The session that is meant, if it is open on this machine, whether or not it is the active one. Otherwise as `activeSession`. */
export const sessionToAbort = async (
  { store }: WithStore,
  caseId: string,
  meant?: string,
): Promise<StoredSession> => {
  await whenDecided(store, caseId);
  const kept = meant === undefined ? undefined : readSession(store, caseId, meant);
  const isOpen = kept !== undefined && !isEnded(kept.session.status);
  return isOpen && kept.session.elsewhere !== true ? kept : findActive(store, caseId, meant);
};

/**
 * The session that holds the lock, else the oldest that has not ended. Throws 422 `invalid_state` when there is none on
 * this machine, 409 `other_session_active` when it is not `meant`, and `unreadable_record` where it may be one that cannot
 * be read.
 */
export const activeSession = async (
  { store }: WithStore,
  caseId: string,
  meant?: string,
): Promise<StoredSession> => {
  await whenDecided(store, caseId);
  return findActive(store, caseId, meant);
};

const whenDecided = async (store: Store, caseId: string): Promise<void> => {
  await getCase(store, caseId);
  await awaitDecisions(store, caseId);
};

const findActive = (store: Store, caseId: string, meant: string | undefined): StoredSession => {
  if (meant !== undefined) orNotFound(readSession(store, caseId, meant), 'session', meant);
  const open = (sessionsOf(store, caseId) ?? []).filter(({ session }) => !isEnded(session.status));
  const ours = open.filter(({ session }) => session.elsewhere !== true);
  const running = runningOf(store, caseId, ours, meant);
  const active = running ?? ours[0];
  if (active !== undefined && (meant ?? active.session.id) !== active.session.id)
    throw otherSession(active.session);
  if (active !== undefined) return active;
  for (const { session } of open) refuseElsewhere(session);
  throw invalidState('The Work item has no active session.');
};

const runningOf = (
  store: Store,
  caseId: string,
  open: readonly StoredSession[],
  meant: string | undefined,
): StoredSession | undefined => {
  const holder = readLock(store, caseId)?.holder?.session_id;
  const begun = open.filter(({ session }) => session.status !== 'queued');
  // git may bring an older session back as open. It does not hold the lock.
  const running = begun.find(({ session }) => session.id === holder) ?? begun[0];
  // The one that holds the lock may be one that cannot be read.
  if (meant === undefined && running?.session.id !== holder) assertReadable(store, caseId);
  return running;
};

const assertReadable = (store: Store, caseId: string): void => {
  for (const [id, { case_id }] of store.journal.runs)
    if (case_id === caseId || hasRecord(store, caseId, id)) readSession(store, caseId, id);
};

/** Why the record of a session cannot be read, as sentences; undefined where it can. */
export const whyUnreadable = (store: Store, caseId: string, id: string): string | undefined => {
  try {
    if (readSession(store, caseId, id) !== undefined) return undefined;
    return 'its session.md is missing, or has another id. Restore it.';
  } catch (error) {
    return messageOf(error);
  }
};

const otherSession = ({ id, status }: Session): ServiceError =>
  new ServiceError(
    'other_session_active',
    `Another session of the Work item is active: ${id} (${status}). Nothing was done. To act on that one, send its id.`,
    { members: { session_id: id } },
  );

/**
 * The approved text, which is what runs. Throws `approval_mismatch` when approved.md is not what was approved. A
 * session that an older version approved has no such file; then plan.md must match, else `plan_changed`.
 */
export const approvedPlan = (store: Store, kept: StoredSession): string => {
  const { approved_sha256, plan_sha256 } = kept.session;
  const dir = sessionDirOf(store, kept);
  if (approved_sha256 === null) {
    const plan = readPlan(store, dir);
    if (plan === undefined || plan.sha256 !== plan_sha256) throw approvedPlanChanged();
    return plan.content;
  }
  const approved = readPlainly(() => readApproved(store, dir));
  if (approved === undefined) throw mismatch('approved.md is missing');
  if (approved.sha256 !== approved_sha256)
    throw mismatch('approved.md differs from the approved text');
  return approved.content;
};

const readPlainly = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError) throw mismatch('approved.md is not a regular file');
    throw error;
  }
};

const mismatch = (what: string): ServiceError =>
  new ServiceError(
    'approval_mismatch',
    `${what} (its SHA-256 is in session.md). Restore the approved text, or abort the session and plan again.`,
  );

const approvedPlanChanged = (): ServiceError =>
  new ServiceError(
    'plan_changed',
    'plan.md differs from the approved text. Restore the approved text, or abort the session and plan again.',
  );

/**
 * The loss as a sentence, where a Work mode session has lost its worktree together with its record; undefined where it
 * can continue.
 */
export const lostWork = async (
  store: Store,
  { case_id, mode, branch }: Session,
): Promise<string | undefined> => {
  if (mode !== 'work' || !(await isWorktreeGone(store, case_id))) return undefined;
  return `The worktree of the session no longer exists, for example because .dossier/ was removed. Uncommitted changes are lost; commits are on the branch ${branch}. Abort the session, then create a new one.`;
};

/**
 * Throws 409 `worktree_missing` for such a session while it is paused: its plan would continue in an empty worktree.
 */
export const refuseLost = async (store: Store, session: Session): Promise<void> => {
  const lost = session.status === 'paused' ? await lostWork(store, session) : undefined;
  if (lost !== undefined) throw new ServiceError('worktree_missing', lost);
};

/** Whether the programs of a provider start in the sandbox now. */
export const hasSandbox = (provider: Provider | undefined): boolean =>
  provider?.boundary().sandbox === 'bubblewrap';

/**
 * Why a plan that was made or approved while the machine had a sandbox does not run without it, as sentences. Undefined
 * where it can run, also if the operator turned the sandbox off.
 */
export const lostSandbox = (
  store: Store,
  { id, mode }: Pick<Session, 'id' | 'mode'>,
  provider: Provider,
): string | undefined => {
  const { sandbox, reason } = provider.boundary();
  const isOff = sandboxSettings(settingsOf(store)).sandbox === 'off';
  if (sandbox !== 'none' || isOff || !isSandboxed(store, id)) return undefined;
  return `The plan was made or approved while this machine had a sandbox, which it has no more, so nothing was started. ${reason} Once the sandbox works again, restart the daemon and ${mode === 'work' ? 'resume the session' : 'approve the plan'}. To run without one, set sandbox: off in workspace.md, or abort the session and plan again.`;
};

/** Throws 422 `invalid_state` for a session whose plan would not run for that reason. */
export const refuseLostSandbox = (
  { store, providers }: WithProviders & WithStore,
  session: Session,
): void => {
  const provider = providers().get(session.provider);
  const lost = provider && lostSandbox(store, session, provider);
  if (lost !== undefined) throw invalidState(lost);
};
