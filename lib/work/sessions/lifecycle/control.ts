import { randomUUID } from 'node:crypto';
import type { Session } from '../../../../store/records/session.ts';
import { readSession, sessionsOf } from '../../../../store/sessions/sessions.ts';
import { notFound, ServiceError } from '../../../errors.ts';
import { activeSession } from '../guards/active.ts';
import { approvedPlan } from '../guards/approved.ts';
import { decide } from '../guards/decide.ts';
import { refuseLost } from '../guards/lost-work.ts';
import { stopLive } from '../live/engine.ts';
import type { EngineNeeds, SessionNeeds, TurnNeeds } from '../live/needs.ts';
import { abort, notNow, pausedNoMore } from '../rules/rules.ts';
import { wrapUp } from '../turns/wrap-up.ts';
import { blockToSkip, type From, tellSkipped } from './go-on.ts';
import { goToPlan, goToWork, holdingLock, wakeQueue } from './launch.ts';
import { keptSession } from './read.ts';

/** Ends the Work item's active session for good. Its whole process tree is gone when this resolves. */
export const abortSession = async (service: SessionNeeds, caseId: string): Promise<Session> => {
  const { engine } = service;
  const active = await activeSession(service, caseId);
  const { id } = active.session;
  // Dead first, free then: the next session must not meet what this one left running. An approval may come between.
  for (;;) {
    const live = engine.live.get(id);
    if (live !== undefined) await stopLive(live);
    const current = readSession(service.store, caseId, id) ?? active;
    const turn = live?.result;
    const ending = await wrapUp(service, current, { status: 'aborted', turn });
    const aborted = await decide(service, caseId, id, (session, matter) =>
      engine.live.has(id) ? undefined : abort(ending)(session, matter),
    );
    if (aborted === undefined) throw notFound('session', id);
    if (aborted.session.status !== 'aborted') continue;
    await wakeQueue(service);
    return aborted.session;
  }
};

/** Ends the sessions of this type that only wait: what they were to be about is no more. */
export const endQueued = async (
  service: TurnNeeds,
  caseId: string,
  type: string,
): Promise<void> => {
  for (const kept of sessionsOf(service.store, caseId) ?? []) {
    const { session } = kept;
    if (session.type !== type || session.status !== 'queued' || session.elsewhere === true)
      continue;
    const ending = await wrapUp(service, kept, { status: 'aborted' });
    await decide(service, caseId, session.id, (current, matter) =>
      current.status === 'queued' ? abort(ending)(current, matter) : undefined,
    );
  }
};

/** Goes on with a session that the daemon's end interrupted: the same mode, the same approved plan, what is there already kept. */
export const resumeSession = async (
  service: SessionNeeds,
  caseId: string,
  from?: From,
): Promise<Session> => {
  const active = await activeSession(service, caseId);
  const { session } = active;
  const run_marker = randomUUID();
  await refuseLost(service.store, session);
  const skipped = await blockToSkip(service.engine, active, from);
  const resumed = await holdingLock(service, active, () =>
    decide(service, caseId, session.id, (current, matter) => {
      if (current.status !== 'paused') throw notNow(current, 'resume');
      const goes = { run_marker, error: null, ...pausedNoMore(matter) };
      if (current.mode === 'plan') return { status: 'planning', ...goes };
      approvedPlan(service.store, { ...active, session: current });
      return { status: 'working', ...goes };
    }),
  );
  if (resumed === undefined) throw notFound('session', session.id);
  if (skipped !== undefined) tellSkipped(service.engine, resumed, skipped);
  if (resumed.session.mode === 'plan') goToPlan(service, resumed);
  else goToWork(service, resumed, { goesOn: true });
  return resumed.session;
};

/** Manual work only: the operator says that it is done. */
export const finishSession = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<Session> => {
  const { session } = await keptSession(service, caseId, id);
  const live = service.engine.live.get(id);
  if (live?.run?.finish() !== true) {
    throw new ServiceError(
      'invalid_state',
      `The session is ${session.status} with the provider ${session.provider}: only manual work is finished by hand.`,
    );
  }
  await live.finished;
  return (await keptSession(service, caseId, id)).session;
};

/** Answers what the agent asks leave for. */
export const answerPermission = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  answer: { request_id: string; option_id: string; prefix?: string },
): Promise<Session> => {
  const { session } = await keptSession(service, caseId, id);
  const { request_id, option_id, prefix } = answer;
  if (service.engine.live.get(id)?.run?.answer(request_id, option_id, prefix) === true)
    return session;
  throw notFound('open permission request', request_id);
};
