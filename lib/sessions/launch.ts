import { randomUUID } from 'node:crypto';
import { readCase } from '../../store/cases.ts';
import { settingsOf } from '../../store/globals.ts';
import { acquireLock, readLock, releaseLock } from '../../store/locks.ts';
import { type KeptSession, listSessions, readSession } from '../../store/sessions.ts';
import type { Service } from '../service.ts';
import { sweep } from '../tools/process-tree.ts';
import { decide } from './decide.ts';
import { endFailed } from './end.ts';
import type { LiveRun } from './engine.ts';
import { planTurn } from './plan-turn.ts';
import { startPlanning } from './rules.ts';
import { workTurn } from './work-turn.ts';

const MAX_SESSIONS = 4;

/** Starts what waits and may start: per Work item first come first served, over all at most `max_sessions` at once. */
export const wakeQueue = async (service: Service): Promise<void> => {
  const waiting = [...service.store.journal.runs].filter(([, { status }]) => status === 'queued');
  for (const [id, { case_id }] of waiting) {
    const item = await readCase(service.store, case_id);
    // After a failure the queue waits for the operator; a session made then is the operator's answer, and starts by itself.
    if (item !== undefined && item.state !== 'BLOCKED') await begin(service, case_id, id);
  }
};

/** Takes the lock and starts Plan mode, if the lock is free and it is this session's turn. True when it has started. */
export const begin = async (service: Service, caseId: string, id: string): Promise<boolean> => {
  const { store, engine } = service;
  if (engine.closing || engine.live.size >= limitOf(service) || !isNext(service, caseId, id))
    return false;
  const item = await readCase(store, caseId);
  const at = service.clock().toISOString();
  if (
    item === undefined ||
    !(await acquireLock(store, caseId, { kind: 'session', session_id: id, acquired_at: at }))
  )
    return false;
  const start = { at, run_marker: randomUUID(), case_state_before: item.state };
  const kept = await decide(service, caseId, id, startPlanning(start));
  if (kept?.session.status !== 'planning') {
    await releaseLock(store, caseId, ({ session_id }) => session_id === id);
    return false;
  }
  go(service, kept, (current) => planTurn(service, current));
  return true;
};

const limitOf = ({ store }: Service): number =>
  settingsOf(store.globals).max_sessions ?? MAX_SESSIONS;

const isNext = ({ store, engine }: Service, caseId: string, id: string): boolean => {
  if (readLock(store, caseId)?.locked !== false || engine.live.has(id)) return false;
  const queued = (listSessions(store, caseId) ?? []).filter(
    ({ session }) => session.status === 'queued',
  );
  return queued[0]?.session.id === id;
};

/** Executes the approved plan. Only approve and resume come here, with a session that is in Work mode already. */
export const goToWork = (service: Service, kept: KeptSession, plan: string): void =>
  go(service, kept, (current) => workTurn(service, current, plan));

export const goToPlan = (service: Service, kept: KeptSession): void =>
  go(service, kept, (current) => planTurn(service, current));

const go = (
  service: Service,
  kept: KeptSession,
  turn: (kept: KeptSession) => Promise<void>,
): void => {
  const { id: session_id, case_id } = kept.session;
  const live: LiveRun = { session_id, case_id, run: undefined, finished: Promise.resolve() };
  service.engine.live.set(session_id, live);
  live.finished = turn(kept)
    .catch((error: unknown) => giveUp(service, kept, error))
    .finally(() => service.engine.live.delete(session_id))
    .then(() => wakeQueue(service))
    .catch((error: unknown) =>
      service.log.error({ err: error, session_id }, 'A session did not end as it should'),
    );
};

// git failed, the disk is full: the session fails with that sentence; what the daemon got wrong goes to the log, too.
const giveUp = async (service: Service, kept: KeptSession, error: unknown): Promise<void> => {
  service.log.error({ err: error, session_id: kept.session.id }, 'A session failed');
  const { run_marker } = kept.matter;
  if (run_marker !== undefined) await sweep(run_marker);
  if (service.engine.closing) return;
  if (readSession(service.store, kept.session.case_id, kept.session.id) === undefined) return;
  await endFailed(service, kept, error instanceof Error ? error.message : String(error));
};
