import type { QuestionAnswer } from '../../../../store/records/question.ts';
import type { Session } from '../../../../store/records/session.ts';
import { newRunMarker } from '../../../../store/sessions/run-marker.ts';
import {
  readSession,
  type StoredSession,
  sessionsOf,
} from '../../../../store/sessions/sessions.ts';
import type { RunResult } from '../../../agents/provider.ts';
import { invalidState, notFound, ServiceError } from '../../../errors.ts';
import { activeSession } from '../guards/active.ts';
import { approvedPlan } from '../guards/approved.ts';
import { decide, pauseLater } from '../guards/decide.ts';
import { refuseLost } from '../guards/lost-work.ts';
import { type Engine, stopLive } from '../live/engine.ts';
import type { EngineNeeds, SessionNeeds, TurnNeeds } from '../live/needs.ts';
import { digestOf, type ToldCall } from '../live/transcript-summary.ts';
import { abort, notNow, pausedNoMore } from '../rules/rules.ts';
import { wrapUp } from '../turns/wrap-up.ts';
import { goToPlan, goToWork, holdingLock, wakeQueue } from './launch.ts';
import { keptSession, withWaiting } from './read.ts';

/** Ends the Work item's active session for good. Its whole process tree is gone when this resolves. */
export const abortSession = async (
  service: SessionNeeds,
  caseId: string,
  meant?: string,
): Promise<Session> => {
  const { engine } = service;
  const active = await activeSession(service, caseId, meant);
  const { id } = active.session;
  // Dead first, free then: the next session must not meet what this one left running. An approval may come between.
  for (;;) {
    const live = engine.live.get(id);
    if (live !== undefined) await stopLive(live);
    const current = readSession(service.store, caseId, id) ?? active;
    const aborted = await endAborted(service, current, live?.result).catch((error: unknown) => {
      pauseLater(service, current, error);
      throw error;
    });
    if (aborted === undefined) throw notFound('session', id);
    if (aborted.session.status !== 'aborted') continue;
    await wakeQueue(service);
    return aborted.session;
  }
};

const endAborted = async (service: SessionNeeds, kept: StoredSession, turn?: RunResult) => {
  const { case_id, id } = kept.session;
  const ending = await wrapUp(service, kept, { status: 'aborted', turn });
  return decide(service, case_id, id, (session, matter) =>
    service.engine.live.has(id) ? undefined : abort(ending)(session, matter),
  );
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
  { from, session_id }: { from?: From; session_id?: string } = {},
): Promise<Session> => {
  const active = await activeSession(service, caseId, session_id);
  const { session } = active;
  const run_marker = newRunMarker(service.store.layout, session.id);
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
  if (live?.run?.finish() !== true) throw notFinished(session);
  await live.finished;
  return (await keptSession(service, caseId, id)).session;
};

const notFinished = ({ status, provider }: Session): ServiceError =>
  invalidState(
    provider === 'manual' && status === 'working'
      ? 'The worktree of the session is not ready yet. Try again in a moment.'
      : `The session is ${status} with the provider ${provider}: only manual work is finished by hand.`,
  );

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

/**
 * Answers what the agent asks; of two answers the first holds. It is the operator's word to the agent and nothing more: no
 * plan is approved by it, and nothing allowed.
 */
export const answerQuestion = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  { question_id, ...answer }: QuestionAnswer & { question_id: string },
): Promise<Session> => {
  const kept = await keptSession(service, caseId, id);
  if (service.engine.live.get(id)?.run?.reply?.(question_id, answer) === true)
    return withWaiting(service, kept.session);
  if (!(await wasAsked(service.engine, kept, question_id))) throw notFound('question', question_id);
  throw new ServiceError(
    'question_closed',
    'It was answered already, or is asked no more: its turn is over. The stream of the session has what became of it.',
  );
};

const wasAsked = async (
  engine: Engine,
  kept: StoredSession,
  question_id: string,
): Promise<boolean> => {
  for await (const events of engine.transcript(kept).soFar(0))
    if (events.some(({ data }) => data.question_id === question_id)) return true;
  return false;
};

/** Where a session goes on whose block was interrupted: with that block, or with the one after it. */
type From = 'again' | 'next';

/**
 * The block that is not to be run again, if the operator said so. 422 `choice_needed` for a runbook that was killed inside
 * a block, where nobody says from where to go on: what the block had done by then, nobody knows.
 */
const blockToSkip = async (
  engine: Engine,
  kept: StoredSession,
  from: From | undefined,
): Promise<ToldCall | undefined> => {
  const block = await interruptedBlock(engine, kept);
  if (block === undefined && from !== undefined)
    throw invalidState('No block of this session was interrupted: resume it without `from`.');
  if (block?.untold === true && from === undefined) throw choiceNeeded(block);
  return from === 'next' ? block : undefined;
};

// The last one that was begun, unless it ended by itself: blocks run one by one.
const interruptedBlock = async (
  engine: Engine,
  kept: StoredSession,
): Promise<ToldCall | undefined> => {
  const { mode, provider, status } = kept.session;
  if (mode !== 'work' || provider !== 'runbook' || status !== 'paused') return undefined;
  const last = (await digestOf(engine, kept)).calls.at(-1);
  return last?.status === 'killed' || last?.status === 'failed' ? last : undefined;
};

const choiceNeeded = ({ id, title }: ToldCall): ServiceError =>
  new ServiceError(
    'choice_needed',
    `The daemon was killed while ${id} ran (${title}): part of it may be done. Look at the worktree, then resume with {"from": "again"} to run it again, or {"from": "next"} to go on with the block after it.`,
    { members: { block: { tool_call_id: id, title }, choices: ['again', 'next'] } },
  );

/** Tells that the operator leaves a block as it is: whoever goes on with the session does, too. */
const tellSkipped = (engine: Engine, kept: StoredSession, block: ToldCall): void => {
  const transcript = engine.transcript(kept);
  transcript.append('block_skipped', { tool_call_id: block.id, title: block.title });
  transcript.sync();
};
