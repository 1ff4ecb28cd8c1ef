import { lockOn } from '../../../../store/base/locks.ts';
import { messageOf } from '../../../../store/base/message-of.ts';
import { apart } from '../../../../store/base/mutex.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import { notice } from '../../../../store/reconcile/items.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { LockMatter } from '../../../../store/records/lock.ts';
import { isEnded } from '../../../../store/records/session.ts';
import { acquireLock, readLock, releaseLock } from '../../../../store/sessions/locks.ts';
import { newRunMarker } from '../../../../store/sessions/run-marker.ts';
import {
  readSession,
  type StoredSession,
  sessionStatus,
  sessionsOf,
} from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { tracesOf } from '../../../code/worktrees/read.ts';
import { maySessionStart, rebaseUnderWay } from '../../../code/worktrees/rebase/under-way.ts';
import type { WithConfig } from '../../../config.ts';
import { ServiceError } from '../../../errors.ts';
import type { WithLog } from '../../../log.ts';
import { killRun } from '../../../tools/process/process-tree.ts';
import { update } from '../../cases/change.ts';
import { isClosed } from '../../cases/moves.ts';
import { decide, pauseLater } from '../guards/decide.ts';
import { checkTrustOf, isBlockedByTrust } from '../guards/trust.ts';
import { isLive, newRun } from '../live/engine.ts';
import type { EngineNeeds, SessionNeeds, TurnNeeds } from '../live/needs.ts';
import { fillSlots, isAtCapacity, waitForSlot } from '../live/places.ts';
import { noteWaiting } from '../live/stream.ts';
import { refuseElsewhere, refuseUnconfirmed, startPlanning } from '../rules/rules.ts';
import { failSession } from '../turns/end.ts';
import { planTurn } from '../turns/plan-turn.ts';
import { type WorkTurn, workTurn } from '../turns/work-turn.ts';

/** Starts what waits and may start: per Work item first come first served, over all at most `max_sessions` at once. */
export const wakeQueue = async (service: SessionNeeds): Promise<void> => {
  fillSlots(service);
  const waiting = [...service.store.journal.runs].filter(([, { status }]) => status === 'queued');
  for (const [id, { case_id }] of waiting) {
    // One that cannot start keeps no other from it.
    await startUnlessBlocked(service, case_id, id).catch((error: unknown) =>
      service.log.error({ err: error, session_id: id }, 'A session that waits could not start'),
    );
  }
};

// After a failure the queue waits for the operator; a session made then is the operator's answer, and starts by itself.
const startUnlessBlocked = async (
  service: SessionNeeds,
  caseId: string,
  id: string,
): Promise<void> => {
  const item = await readCase(service.store, caseId);
  if (item === undefined || isClosed(item.state)) return;
  // A rebase blocks it, too, and waits for a session of its own.
  if (item.state === 'BLOCKED' && rebaseUnderWay(service.store, caseId) === undefined) return;
  await startIfNext(service, caseId, id);
};

/** Takes the lock and starts Plan mode, if the lock is free and it is this session's turn. True when it has started. */
export const startIfNext = (service: SessionNeeds, caseId: string, id: string): Promise<boolean> =>
  service.store.locks.take(lockOn.start(), async () => {
    const { engine } = service;
    if (engine.closing || isAtCapacity(service) || !isNext(service, caseId, id)) return false;
    const kept = readSession(service.store, caseId, id);
    if (kept === undefined || (await isBlockedByTrust(service, kept))) return false;
    // What cannot be written cannot follow its session either: this throws before anything is begun.
    const item = await update(service.store, caseId, () => undefined);
    if (!(await acquireLock(service.store, caseId, lockOf(service.store, id)))) return false;
    return plan(service, item, id).finally(() => releaseIfNotStarted(service.store, caseId, id));
  });

const plan = async (service: SessionNeeds, item: Case, id: string): Promise<boolean> => {
  const at = service.store.clock().toISOString();
  const start = {
    at,
    run_marker: newRunMarker(service.store.layout, id),
    case_state_before: item.state,
  };
  const kept = await decide(service, item.id, id, startPlanning(start));
  if (kept?.session.status !== 'planning') return false;
  startPlanTurn(service, kept);
  return true;
};

const lockOf = (store: Store, id: string): LockMatter => ({
  kind: 'session',
  session_id: id,
  acquired_at: store.clock().toISOString(),
});

// A session that did not begin holds nothing.
const releaseIfNotStarted = async (store: Store, caseId: string, id: string): Promise<void> => {
  const status = sessionStatus(store, caseId, id) ?? 'queued';
  if (status !== 'queued' && !isEnded(status)) return;
  await releaseLock(store, caseId, ({ session_id }) => session_id === id);
};

/**
 * Runs work for a session that has been begun and waits. It holds the lock already, unless somebody deleted that by
 * hand: then it is taken again, or 409 `lock_held` where another was quicker.
 */
export const withSessionLock = async <T>(
  service: WithConfig & WithStore,
  { session }: StoredSession,
  work: () => Promise<T>,
): Promise<T> => {
  const { id, case_id, status } = session;
  const { store } = service;
  refuseElsewhere(session);
  refuseUnconfirmed(session);
  await checkTrustOf(service, session);
  if (status !== 'plan_ready' && status !== 'paused') return work();
  const isOurs = (): boolean => readLock(store, case_id)?.holder?.session_id === id;
  if (!isOurs() && !(await acquireLock(store, case_id, lockOf(store, id))) && !isOurs())
    throw new ServiceError(
      'lock_held',
      'Somebody else holds the session lock now. Let them end, or abort, then try again.',
    );
  return work().finally(() => releaseIfNotStarted(store, case_id, id));
};

const isNext = (service: EngineNeeds, caseId: string, id: string): boolean => {
  const { store, engine } = service;
  if (readLock(store, caseId)?.locked !== false || isLive(engine, caseId)) return false;
  const first = (sessionsOf(store, caseId) ?? []).find(
    ({ session }) =>
      session.status === 'queued' &&
      store.journal.runs.has(session.id) &&
      maySessionStart(store, caseId, session.type),
  );
  return first?.session.id === id;
};

/** Executes the approved plan. Only approve and resume come here, with a session that is in Work mode already. */
export const startWorkTurn = (service: SessionNeeds, kept: StoredSession, work: WorkTurn): void =>
  apart(() => runInBackground(service, kept, (current) => workTurn(service, current, work)));

export const startPlanTurn = (service: SessionNeeds, kept: StoredSession): void =>
  apart(() => runInBackground(service, kept, (current) => planTurn(service, current)));

const runInBackground = (
  service: SessionNeeds,
  kept: StoredSession,
  turn: (kept: StoredSession) => Promise<void>,
): void => {
  const { id: session_id, case_id } = kept.session;
  const { run_marker = session_id } = kept.matter;
  const live = newRun({ session_id, case_id, run_marker, phase: kept.session.mode });
  const complain = (error: unknown): void =>
    service.log.error({ err: error, session_id }, 'A session did not end as it should');
  live.onSlotYielded = () => void wakeQueue(service).catch(complain);
  service.engine.live.set(session_id, live);
  const waits = (): void => {
    noteWaiting(service.engine, kept);
    notice(service.store, case_id);
  };
  live.finished = waitForSlot(service, live, waits)
    .then(() => turn(kept))
    .catch((error: unknown) => failAfterError(service, kept, error))
    .catch((error: unknown) => {
      complain(error);
      pauseLater(service, kept, error);
    })
    .finally(() => service.engine.live.delete(session_id))
    .then(() => followTurn(service, kept))
    .then(() => wakeQueue(service))
    .catch(complain);
};

const followTurn = async ({ engine, log }: SessionNeeds, kept: StoredSession): Promise<void> => {
  const { id: session_id } = kept.session;
  for (const follow of engine.closing ? [] : engine.over)
    await follow(kept).catch((error: unknown) =>
      log.error({ err: error, session_id }, 'What follows a turn could not be done'),
    );
};

// git failed, the disk is full: the session fails with that sentence; what the daemon got wrong goes to the log, too.
const failAfterError = async (
  service: TurnNeeds & WithLog,
  kept: StoredSession,
  error: unknown,
): Promise<void> => {
  service.log.error({ err: error, session_id: kept.session.id }, 'A session failed');
  const { run_marker } = kept.matter;
  if (run_marker !== undefined)
    await killRun(run_marker, tracesOf(service.store, kept.session.case_id));
  if (service.engine.closing) return;
  if (sessionStatus(service.store, kept.session.case_id, kept.session.id) === undefined) return;
  const turn = service.engine.live.get(kept.session.id)?.result;
  await failSession(service, kept, messageOf(error), turn);
};
