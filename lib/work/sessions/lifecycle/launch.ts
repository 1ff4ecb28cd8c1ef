import { messageOf } from '../../../../store/base/attempt.ts';
import { lockOn } from '../../../../store/base/locks.ts';
import { withoutLocks } from '../../../../store/base/mutex.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import { caseStateOf } from '../../../../store/reconcile/item.ts';
import { itemOf, notice } from '../../../../store/reconcile/items.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { LockMatter } from '../../../../store/records/lock.ts';
import { isEnded, isWaiting, type Session } from '../../../../store/records/session.ts';
import { acquireLock, readLock, releaseLock } from '../../../../store/sessions/locks.ts';
import { newRunMarker } from '../../../../store/sessions/run-marker.ts';
import {
  hasRecord,
  readSession,
  type StoredSession,
  sessionStatus,
  sessionsOf,
} from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { tracesOf } from '../../../code/worktrees/read.ts';
import { canSessionStart, rebaseUnderWay } from '../../../code/worktrees/rebase/rebase-state.ts';
import type { WithConfig } from '../../../config.ts';
import { ServiceError } from '../../../errors.ts';
import type { WithLog } from '../../../log.ts';
import { killRun } from '../../../tools/process/process-tree.ts';
import { update } from '../../cases/change.ts';
import { isClosed } from '../../cases/moves.ts';
import { decide, pauseLater, refuseAttached } from '../guards/decide.ts';
import { whyUnreadable } from '../guards/preconditions.ts';
import { checkTrustOf, isBlockedByTrust } from '../guards/trust.ts';
import { isStatusChanged, noteChanged } from '../live/changed-status.ts';
import { isLive, newRun, stopLive, type WithEngine } from '../live/engine.ts';
import type { EngineNeeds, SessionNeeds, TurnNeeds } from '../live/needs.ts';
import { fillSlots, isAtCapacity, waitForSlot } from '../live/slots.ts';
import { noteStatus } from '../live/stream.ts';
import { refuseElsewhere, refuseUnconfirmed, startPlanning, TAKEN_AWAY } from '../rules/rules.ts';
import { failSession, pauseTurn } from '../turns/end.ts';
import { planTurn } from '../turns/plan-turn.ts';
import { type WorkTurn, workTurn } from '../turns/work-turn.ts';
import { wrapUp } from '../turns/wrap-up.ts';

/** Starts queued sessions: for each Work item in order of creation, overall at most `max_sessions` at once. */
export const startQueued = async (service: SessionNeeds): Promise<void> => {
  fillSlots(service);
  const waiting = [...service.store.journal.runs].filter(([, { status }]) => status === 'queued');
  for (const [id, { case_id }] of waiting) {
    // A session that cannot start does not block the others.
    await startUnlessBlocked(service, case_id, id).catch((error: unknown) =>
      service.log.error({ err: error, session_id: id }, 'starting a queued session failed'),
    );
  }
};

// After a failure the queue waits for the operator. A session that is created then starts at once, because creating it
// is the operator's decision.
const startUnlessBlocked = async (
  service: SessionNeeds,
  caseId: string,
  id: string,
): Promise<void> => {
  const item = await readCase(service.store, caseId);
  if (item === undefined || isClosed(item.state)) return;
  // A Work item that a rebase blocks may start a conflict session.
  if (item.state === 'BLOCKED' && rebaseUnderWay(service.store, caseId) === undefined) return;
  await startIfNext(service, caseId, id);
};

/** Takes the lock and starts Plan mode, if the lock is free and the session is next. */
export const startIfNext = (service: SessionNeeds, caseId: string, id: string): Promise<void> =>
  service.store.locks.take(lockOn.start(), async () => {
    const { engine } = service;
    if (engine.closing || isAtCapacity(service)) return;
    const kept = readQueued(service, caseId, id);
    if (kept === undefined || !isNext(service, caseId, id)) return;
    if (await isBlockedByTrust(service, kept)) return;
    // This throws before anything starts where the Work item cannot be written.
    const item = await update(service.store, caseId, () => undefined);
    if (!(await acquireLock(service.store, caseId, lockOf(service.store, id)))) return;
    await plan(service, item, id).finally(() => releaseIfNotStarted(service.store, caseId, id));
  });

// One that cannot be read is tried again once it can (`follow-cases.ts`), and logged once until then.
const readQueued = (
  { engine, store, log }: SessionNeeds,
  caseId: string,
  id: string,
): StoredSession | undefined => {
  try {
    const kept = readSession(store, caseId, id);
    if (kept === undefined) engine.unread.add(id);
    else engine.unread.delete(id);
    return kept;
  } catch (err) {
    if (!engine.unread.has(id)) log.error({ err, session_id: id }, UNREAD);
    engine.unread.add(id);
    return undefined;
  }
};

const UNREAD = 'a queued session cannot be read; it starts once its file is fixed';

const plan = async (service: SessionNeeds, item: Case, id: string): Promise<void> => {
  const at = service.store.clock().toISOString();
  const start = {
    at,
    run_marker: newRunMarker(service.store.layout, id),
    case_state_before: item.state,
  };
  const kept = await decide(service, { case_id: item.id, id }, startPlanning(start));
  if (kept?.session.status === 'planning') startPlanTurn(service, kept);
};

const lockOf = (store: Store, id: string): LockMatter => ({
  kind: 'session',
  session_id: id,
  acquired_at: store.clock().toISOString(),
});

// A session that did not start must not keep the lock.
const releaseIfNotStarted = async (store: Store, caseId: string, id: string): Promise<void> => {
  const status = sessionStatus(store, caseId, id) ?? 'queued';
  if (status !== 'queued' && !isEnded(status)) return;
  await releaseLock(store, caseId, ({ session_id }) => session_id === id);
};

/**
 * Runs `work` for a session that waits for the operator. It has the lock already, unless the lock file was deleted by
 * hand: then the lock is taken again, or this throws 409 `lock_held`. Throws `unreadable_record` of the Work item.
 */
export const withSessionLock = async <T>(
  service: WithConfig & WithEngine & WithStore,
  { session }: StoredSession,
  work: () => Promise<T>,
): Promise<T> => {
  const { id, case_id, status } = session;
  const { store } = service;
  await endOutdatedRun(service, session);
  refuseAttached(service, session);
  refuseElsewhere(session);
  refuseUnconfirmed(session, store.layout.root);
  await checkTrustOf(service, session);
  // The Work item changes with its session, so nothing is decided while it cannot be written.
  await update(store, case_id, () => undefined);
  if (!isWaiting(status)) return work();
  const isOurs = (): boolean => readLock(store, case_id)?.holder?.session_id === id;
  if (!isOurs() && !(await acquireLock(store, case_id, lockOf(store, id))) && !isOurs())
    throw new ServiceError(
      'lock_held',
      'Another session, an operator or the daemon holds the session lock. Wait until it is released, or delete sessions/lock.md of the Work item if git brought it; then try again.',
    );
  return work().finally(() => releaseIfNotStarted(store, case_id, id));
};

// Reads the status again, because another call may have started a run since then. That run is not ended.
const endOutdatedRun = async (
  { engine, store }: WithEngine & WithStore,
  { id, case_id }: Session,
): Promise<void> => {
  const live = engine.live.get(id);
  if (live === undefined) return;
  // A terminal that was closed ends by itself.
  const isOver = live.attached ? live.stopping : isWaiting(sessionStatus(store, case_id, id));
  if (!isOver) return;
  if (isStatusChanged(store, live)) noteChanged(engine, readSession(store, case_id, id));
  await stopLive(live);
};

const isNext = (service: EngineNeeds, caseId: string, id: string): boolean => {
  const { store, engine } = service;
  if (readLock(store, caseId)?.locked !== false || isLive(engine, caseId)) return false;
  const first = (sessionsOf(store, caseId) ?? []).find(
    ({ session }) =>
      session.status === 'queued' &&
      store.journal.runs.has(session.id) &&
      canSessionStart(store, caseId, session.type),
  );
  return first?.session.id === id;
};

/** Executes the approved plan. Only approve and resume call this, with a record that is in Work mode already. */
export const startWorkTurn = (service: SessionNeeds, kept: StoredSession, work: WorkTurn): void =>
  withoutLocks(() => runInBackground(service, kept, (current) => workTurn(service, current, work)));

export const startPlanTurn = (service: SessionNeeds, kept: StoredSession): void =>
  withoutLocks(() => runInBackground(service, kept, (current) => planTurn(service, current)));

const runInBackground = (
  service: SessionNeeds,
  kept: StoredSession,
  turn: (kept: StoredSession) => Promise<void>,
): void => {
  const { id: session_id, case_id } = kept.session;
  const { run_marker = session_id } = kept.matter;
  const live = newRun({ session_id, case_id, run_marker, phase: kept.session.mode });
  const complain = (error: unknown): void =>
    service.log.error({ err: error, session_id }, 'ending a session failed');
  live.onSlotYielded = () => void startQueued(service).catch(complain);
  service.engine.live.set(session_id, live);
  // How this run ends is its own: a recovery that was to be repeated is no longer needed.
  service.engine.away.delete(session_id);
  let wasOpen = false;
  const noteWaits = (): void => noteStatus(service.engine, kept, { waits_for: 'max_sessions' });
  const waits = (): void => {
    noteWaits();
    notice(service.store, case_id);
    // The decision has just read the Work item. To read it again could fail, and only the wait for a place would catch that.
    const item = itemOf(service.store, case_id);
    wasOpen = item !== undefined && !isClosed(caseStateOf(item));
  };
  live.finished = waitForSlot(service, live, waits)
    .then(async () => {
      const hasEnded = live.stopping;
      const isLate = wasOpen && (await isCaseClosed(service, case_id)) && !live.stopping;
      // As at a pause: its turn runs nothing, and records where the work begins.
      if (isLate) live.stopping = true;
      await turn(kept);
      // The last status tells the next daemon that nothing was run.
      if (hasEnded && service.engine.closing) noteWaits();
      if (!isLate || service.engine.closing) return;
      const ending = await wrapUp(service, kept, { status: 'paused', error: CLOSED });
      await pauseTurn(service, kept, CLOSED, ending);
    })
    .catch((error: unknown) => failAfterError(service, kept, error))
    .catch((error: unknown) => {
      complain(error);
      pauseLater(service, kept, error);
      noteUnreadable(service, kept);
    })
    .finally(() => service.engine.live.delete(session_id))
    .then(() => recoverIfAway(service, kept))
    .catch(complain)
    .then(() => followTurn(service, kept))
    .then(() => startQueued(service))
    .catch(complain);
};

// The operator closed it after the decision that made the session wait, and may not want the work any more.
const CLOSED =
  'Its Work item was closed while it waited for a free slot. Reopen the Work item and resume the session, or abort it.';

const isCaseClosed = async ({ store }: WithStore, caseId: string): Promise<boolean> => {
  const item = await readCase(store, caseId);
  return item !== undefined && isClosed(item.state);
};

// Its end is recorded as soon as the record can be read, and those who follow the session know it now.
const noteUnreadable = ({ engine, store }: EngineNeeds, kept: StoredSession): void => {
  const { id, case_id } = kept.session;
  const why = whyUnreadable(store, case_id, id);
  if (why === undefined || engine.closing) return;
  engine.away.set(id, UNREADABLE);
  const message = `The turn has ended. The session is paused once its record can be read: ${why}`;
  engine.transcript(kept).append('error', { message });
};

const UNREADABLE =
  'The turn ended while session.md could not be read. The work so far is in the worktree. Resume the session, or abort it.';

// The turn could not be recorded. Its record may be back already, so the Work item is looked at again.
const recoverIfAway = ({ engine, store }: EngineNeeds, { session }: StoredSession): void => {
  const { id, case_id } = session;
  if (!hasRecord(store, case_id, id)) engine.away.set(id, TAKEN_AWAY);
  if (engine.away.has(id)) notice(store, case_id);
};

const followTurn = async ({ engine, log }: SessionNeeds, kept: StoredSession): Promise<void> => {
  const { id: session_id } = kept.session;
  for (const follow of engine.closing ? [] : engine.over)
    await follow(kept).catch((error: unknown) =>
      log.error({ err: error, session_id }, 'a follow-up of a turn failed'),
    );
};

// For example git failed or the disk is full. The session fails with that message, and the log has the stack.
const failAfterError = async (
  service: TurnNeeds & WithLog,
  kept: StoredSession,
  error: unknown,
): Promise<void> => {
  const { store, engine } = service;
  const { id, case_id } = kept.session;
  // It may be back in a moment, and then the work has not failed.
  if (!hasRecord(store, case_id, id)) engine.away.set(id, TAKEN_AWAY);
  service.log.error({ err: error, session_id: id }, 'session failed');
  const { run_marker } = kept.matter;
  if (run_marker !== undefined) await killRun(run_marker, tracesOf(store, case_id));
  if (engine.closing || engine.away.has(id)) return;
  // Unreadable for now.
  if (sessionStatus(store, case_id, id) === undefined) return pauseLater(service, kept, error);
  const turn = engine.live.get(id)?.result;
  await failSession(service, kept, messageOf(error), turn);
};
