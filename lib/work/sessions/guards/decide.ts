import { hasCode, isDiskFault, messageOf } from '../../../../store/base/attempt.ts';
import { lockOn } from '../../../../store/base/locks.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import { defer, doOrDefer } from '../../../../store/reconcile/deferred.ts';
import { notice } from '../../../../store/reconcile/items.ts';
import type { Case, State } from '../../../../store/records/case.ts';
import { isEnded, isWaiting, type Session } from '../../../../store/records/session.ts';
import { revokeSession } from '../../../../store/sessions/consent.ts';
import { readLock, releaseLock } from '../../../../store/sessions/locks.ts';
import { journalSession } from '../../../../store/sessions/session-events.ts';
import {
  isBehindJournal,
  readSession,
  type SessionRule,
  type StoredSession,
  unfinishedSession,
  updateSession,
} from '../../../../store/sessions/sessions.ts';
import { removeTold } from '../../../../store/sessions/told.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { CONFLICT, rebaseUnderWay } from '../../../code/worktrees/rebase/rebase-state.ts';
import { asSentence, orNotFound, ServiceError } from '../../../errors.ts';
import { forgetState } from '../../../sandbox/state/open.ts';
import { update } from '../../cases/change.ts';
import { isClosed, moveTo, unblock } from '../../cases/moves.ts';
import type { WithEngine } from '../live/engine.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { endStream, noteApproved } from '../live/stream.ts';
import { interrupt, isRunning, refuseElsewhere } from '../rules/rules.ts';

/**
 * Changes a session and applies everything that follows, under the decision lock of the Work item, so that a reader
 * never sees an ended session beside a Work item that is not updated. Undefined when there is no such session.
 */
export const decide = (
  service: EngineNeeds,
  session: SessionName,
  rule: SessionRule,
): Promise<StoredSession | undefined> => decideLocked(service, session, async () => rule);

type SessionName = Pick<Session, 'case_id' | 'id'>;

/**
 * The same for a rule that is made, with what it needs on disk, of the session as it is under the same lock. Throws 404 when
 * there is no such session.
 */
export const decideWith = async (
  service: EngineNeeds,
  session: SessionName,
  make: (now: StoredSession) => Promise<SessionRule>,
): Promise<StoredSession> => {
  const { case_id, id } = session;
  const kept = await decideLocked(service, session, async () =>
    make(orNotFound(readSession(service.store, case_id, id), 'session', id)),
  );
  return orNotFound(kept, 'session', id);
};

const decideLocked = (
  service: EngineNeeds,
  session: SessionName,
  make: () => Promise<SessionRule>,
): Promise<StoredSession | undefined> =>
  service.store.locks.take(lockOn.decision(session.case_id), async () => {
    const { case_id, id } = session;
    await finalizeEdited(service, session);
    const rule = guarded(service, await make());
    const kept = await updateSession(service.store, case_id, id, rule).catch((error: unknown) => {
      // The record may be written, and say that the session runs.
      if (isDiskFault(error)) pauseLater(service, { session }, error);
      throw error;
    });
    if (kept === undefined) return undefined;
    await finalize(service, kept).catch((error: unknown) => pauseAndRethrow(service, kept, error));
    return kept;
  });

// A status that a hand or git gave the record is journaled before the next one: two approvals are two events.
const finalizeEdited = async (
  service: EngineNeeds,
  { case_id, id }: SessionName,
): Promise<void> => {
  const kept = unfinishedSession(service.store, case_id, id);
  if (kept !== undefined && isWaiting(kept.session.status)) await finalize(service, kept);
};

const guarded =
  (service: EngineNeeds, rule: SessionRule): SessionRule =>
  (session, matter) => {
    refuseElsewhere(session);
    const change = rule(session, matter);
    const isNews = change?.status !== undefined && change.status !== session.status;
    if (isNews) refuseAttached(service, session);
    return change;
  };

/**
 * Throws 409 `terminal_attached` while a terminal is attached: another run of the session would use the same worktree and the
 * same conversation.
 */
export const refuseAttached = ({ engine }: WithEngine, { id }: Pick<Session, 'id'>): void => {
  if (engine.live.get(id)?.attached !== true) return;
  throw new ServiceError(
    'terminal_attached',
    `A terminal is attached to session ${id}. End the agent's interface there, or abort the session; then try again.`,
  );
};

// Otherwise the record would say that the session runs. The caller gets the error, and the operator can resume.
const pauseAndRethrow = async (
  service: EngineNeeds,
  kept: StoredSession,
  error: unknown,
): Promise<never> => {
  const { case_id, id } = kept.session;
  const rule = interrupt(messageOf(error));
  if (!service.engine.live.has(id)) {
    const paused = await updateSession(service.store, case_id, id, rule).catch(() => undefined);
    // The record cannot be read or written for now.
    if (paused === undefined) pauseLater(service, kept, error);
  }
  throw error;
};

/**
 * Pauses a session at the next comparison if no run of it exists by then although its record says so, because its end
 * could not be written. Until then the inbox lists it.
 */
export const pauseLater = (
  service: EngineNeeds,
  { session }: { session: SessionName },
  error: unknown,
): void => {
  const { store, engine } = service;
  const { id } = session;
  const isOver = (): boolean => engine.closing || engine.live.has(id);
  const rule = interrupt(messageOf(error));
  const message = `The session does not run, and its record could not be written: ${asSentence(messageOf(error))} The daemon tries again within ten minutes, and then pauses the session.`;
  const { since = store.clock().toISOString() } = engine.unrecorded.get(id) ?? {};
  engine.unrecorded.set(id, { since, message });
  notice(store, session.case_id);
  defer(store, `run ${id}`, {
    what: `pausing session ${id} after its end could not be written`,
    work: async () => {
      if (!isOver())
        await decide(service, session, (...now) => (isOver() ? undefined : rule(...now)));
      engine.unrecorded.delete(id);
      notice(store, session.case_id);
    },
  });
};

/** Resolves when no decision about the Work item's sessions is in progress. */
export const awaitDecisions = ({ locks }: Store, caseId: string): Promise<void> =>
  locks.whenFree(lockOn.decision(caseId));

/**
 * Applies what follows from a session's record, in this order: the state of the Work item, the lock, the end of the
 * stream, the events. The record is written first and decides, so the next start can repeat this after a crash.
 */
export const finalize = async (service: EngineNeeds, kept: StoredSession): Promise<void> => {
  const { store } = service;
  const { session } = kept;
  if (session.elsewhere === true || !isBehindJournal(store, session)) return;
  const hasEnded = isEnded(session.status);
  if (!(await moveCase(store, kept))) {
    if (!hasEnded) return;
    await revoke(store, session.id);
    return endStream(service.engine, kept);
  }
  if (isApproved(session)) await noteApproved(service.engine, kept);
  if (hasEnded) {
    await revoke(store, session.id);
    await releaseLock(store, session.case_id, ({ session_id }) => session_id === session.id);
    endStream(service.engine, kept);
    await forgetState(store.layout.states, session.id);
    removeTold(store.layout, session.id);
  }
  await journalSession(store, session);
};

const revoke = (store: Store, id: string): Promise<void> =>
  doOrDefer(store, `consent ${id}`, {
    what: `revoking the consent for session ${id}`,
    work: async () => revokeSession(store, id),
  });

// False while case.md cannot be read and the session does not run: an agent can be stopped whatever its Work item says. The
// journal then lags behind, so all that follows is done once case.md is repaired.
const moveCase = async (store: Store, kept: StoredSession): Promise<boolean> => {
  const { case_id, status } = kept.session;
  if ((await readCase(store, case_id)) === undefined) return true;
  try {
    await update(store, case_id, (current) => {
      const state = caseStateFor(kept.session, current, stateBefore(store, kept, current));
      return state === undefined ? undefined : moveTo(current, state);
    });
    return true;
  } catch (error) {
    if (hasCode(error, 'unreadable_record') && !isRunning(status)) return false;
    throw error;
  }
};

// One that never began has changed no state, and beside another session the state is that one's.
const stateBefore = (
  store: Store,
  { session, matter }: StoredSession,
  { state }: Pick<Case, 'state'>,
): State | undefined => {
  const holder = readLock(store, session.case_id)?.holder?.session_id ?? session.id;
  if (holder !== session.id) return state;
  return matter.case_state_before ?? (session.started_at === null ? state : undefined);
};

// The status has to agree with the mode: a session in `planning` was not approved.
const isApproved = ({ mode, status, unconfirmed }: Session): boolean =>
  mode === 'work' && status === 'working' && unconfirmed === undefined;

/** Ends the block by an agent's requests. During a rebase the Work item stays BLOCKED. */
export const unblockCase = async ({ store }: WithStore, caseId: string): Promise<void> => {
  if (rebaseUnderWay(store, caseId) === undefined) await update(store, caseId, unblock);
};

/** The state that a Work item takes with its session, or undefined for no change. A closed Work item stays closed. */
export const caseStateFor = (
  { status, type }: Pick<Session, 'status' | 'type'>,
  { state }: Pick<Case, 'state'>,
  before: State = 'OPEN',
): State | undefined => {
  // While a rebase waits, the Work item stays BLOCKED whatever its conflict session does.
  if (isClosed(state) || type === CONFLICT) return undefined;
  if (status === 'aborted') return before;
  return FOLLOWS[status];
};

const FOLLOWS: Partial<Record<Session['status'], State>> = {
  planning: 'INVESTIGATING',
  working: 'IMPLEMENTING',
  completed: 'VERIFYING',
  failed: 'BLOCKED',
};
