import { doOrDefer } from '../../../../store/reconcile/deferred.ts';
import type { Session } from '../../../../store/records/session.ts';
import type { Blocks } from '../../../../store/records/told.ts';
import { findBlocks, saveBlocks } from '../../../../store/sessions/blocks.ts';
import { newRunMarker } from '../../../../store/sessions/run-marker.ts';
import {
  readSession,
  type StoredSession,
  sessionsOf,
} from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import type { RunResult } from '../../../agents/provider.ts';
import { invalidState, notFound, orNotFound, ServiceError } from '../../../errors.ts';
import { decide, pauseLater, unblockCase } from '../guards/decide.ts';
import {
  activeSession,
  approvedPlan,
  refuseLost,
  refuseLostSandbox,
  sessionToAbort,
  whyUnreadable,
} from '../guards/preconditions.ts';
import { type LiveRun, stopLive } from '../live/engine.ts';
import type { SessionNeeds, TurnNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { digestOf, type SessionDigest, type TranscriptCall } from '../live/transcript-summary.ts';
import { abort, checkEvent, pause, resume } from '../rules/rules.ts';
import { wrapUp } from '../turns/wrap-up.ts';
import { startPlanTurn, startQueued, startWorkTurn, withSessionLock } from './launch.ts';

/** Ends the Work item's active session, or the one that is meant, for good. None of its processes is alive when this resolves. */
export const abortSession = async (
  service: SessionNeeds,
  caseId: string,
  meant?: string,
): Promise<Session> => {
  const { engine } = service;
  await endUnreadable(service, caseId, { meant, by: 'kill' });
  const active = await sessionToAbort(service, caseId, meant);
  const { id } = active.session;
  // The run ends before the lock is released, because the next session must not meet its processes. An approval may
  // start another run in between, hence the loop.
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
    await startQueued(service);
    return aborted.session;
  }
};

/**
 * Ends the run of a session whose record was made unreadable while it ran, and throws `unreadable_record`: its end is recorded
 * once the record is mended.
 */
const endUnreadable = async (
  { engine, store }: TurnNeeds,
  caseId: string,
  { meant, by }: { meant: string | undefined; by: 'kill' | 'cancel' },
): Promise<void> => {
  const { runs } = store.journal;
  for (const live of [...engine.live.values()]) {
    const { case_id, session_id: id } = live;
    if (case_id !== caseId || !runs.has(id) || (meant ?? id) !== id) continue;
    const why = whyUnreadable(store, caseId, id);
    if (why === undefined) continue;
    await stopLive(live, by);
    engine.away.set(id, STOPPED);
    throw new ServiceError(
      'unreadable_record',
      `The agent was stopped. Session ${id} is paused once its record can be read: ${why}`,
    );
  }
};

const STOPPED =
  'You stopped the session while its session.md could not be read. The work so far is in the worktree. Resume the session, or abort it.';

const endAborted = async (service: SessionNeeds, kept: StoredSession, turn?: RunResult) => {
  const ending = await wrapUp(service, kept, { status: 'aborted', turn });
  return decide(service, kept.session, (session, matter) =>
    service.engine.live.has(session.id) ? undefined : abort(ending)(session, matter),
  );
};

/** Aborts the queued sessions of this type, whose subject is gone. */
export const endQueued = async (
  service: TurnNeeds,
  caseId: string,
  type: string,
): Promise<void> => {
  for (const kept of queuedOf(service.store, caseId, type)) {
    const ending = await wrapUp(service, kept, { status: 'aborted' });
    await decide(service, kept.session, (current, matter) =>
      current.status === 'queued' ? abort(ending)(current, matter) : undefined,
    );
  }
};

/** The sessions of this type that wait to start on this machine. */
export const queuedOf = (store: Store, caseId: string, type: string): StoredSession[] =>
  (sessionsOf(store, caseId) ?? []).filter(
    ({ session }) =>
      session.type === type && session.status === 'queued' && session.elsewhere !== true,
  );

/** Continues a paused session in the same mode, with the same approved plan and the work so far. */
export const resumeSession = async (
  service: SessionNeeds,
  caseId: string,
  { from, session_id }: { from?: From; session_id?: string } = {},
): Promise<Session> => {
  const active = await activeSession(service, caseId, session_id);
  const { session } = active;
  const run_marker = newRunMarker(service.store.layout, session.id);
  await refuseLost(service.store, session);
  if (session.mode === 'work') refuseLostSandbox(service, session);
  const done = session.mode === 'work' ? await digestOf(service.engine, active) : undefined;
  const blocks = findBlocks(service.store.layout, session);
  const skipped = skippedBlock(interruptedBlock(session, done, blocks), from);
  const resumed = await withSessionLock(service, active, () =>
    decide(service, session, (current, matter) => {
      const change = resume(run_marker)(current, matter);
      if (current.mode === 'work') approvedPlan(service.store, { ...active, session: current });
      return change;
    }),
  );
  if (resumed === undefined) throw notFound('session', session.id);
  if (skipped !== undefined)
    await recordSkippedBlock(service, resumed, { block: skipped, blocks }).catch(
      (error: unknown) => {
        pauseLater(service, resumed, error);
        throw error;
      },
    );
  if (resumed.session.mode === 'plan') startPlanTurn(service, resumed);
  // The daemon may have been killed before the work began.
  else
    startWorkTurn(service, resumed, {
      isResumed: hasRun(blocks) || done?.only_waited !== true,
    });
  return resumed.session;
};

const hasRun = (blocks: Blocks | undefined): boolean =>
  blocks !== undefined && (blocks.begun !== undefined || blocks.done.length > 0);

/** Where to continue after an interrupted block: with that block, or with the next one. */
type From = 'again' | 'next';

/**
 * The block to skip, if the operator chose `next`. Throws 422 `choice_needed` for a runbook that was killed inside a
 * block without a choice, because the block may have done part of its work.
 */
const skippedBlock = (
  block: TranscriptCall | undefined,
  from: From | undefined,
): TranscriptCall | undefined => {
  if (block === undefined && from !== undefined)
    throw invalidState('No block of this session was interrupted. Resume it without `from`.');
  if (block?.untold === true && from === undefined) throw choiceNeeded(block);
  return from === 'next' ? block : undefined;
};

// The block whose end is not known, or the last call, unless it ended by itself: blocks run one by one.
const interruptedBlock = (
  { provider, status }: Session,
  done: SessionDigest | undefined,
  blocks: Blocks | undefined,
): TranscriptCall | undefined => {
  if (provider !== 'runbook' || status !== 'paused') return undefined;
  const id = blocks?.begun;
  const begun = done?.calls.find((call) => call.id === id);
  if (id !== undefined)
    return { title: id, kind: 'execute', ...begun, id, status: 'killed', untold: true };
  const last = done?.calls.at(-1);
  return last?.status === 'killed' || last?.status === 'failed' ? last : undefined;
};

const choiceNeeded = ({ id, title }: TranscriptCall): ServiceError =>
  new ServiceError(
    'choice_needed',
    `${id} (${title}) was interrupted and may have run in part. Check the worktree. Then, on the page of the session or in the body, run the block again ({"from": "again"}) or continue with the next block ({"from": "next"}).`,
    { members: { block: { tool_call_id: id, title }, choices: ['again', 'next'] } },
  );

/** Records that the block is skipped, so that later resumes skip it too. */
const recordSkippedBlock = async (
  { engine, store }: SessionNeeds,
  kept: StoredSession,
  { block: { id, title }, blocks }: { block: TranscriptCall; blocks: Blocks | undefined },
): Promise<void> => {
  if (blocks !== undefined) await saveBlocks(store.layout, kept.session, [...blocks.done, id]);
  const transcript = engine.transcript(kept);
  transcript.append('block_skipped', { tool_call_id: id, title });
  transcript.sync();
};

/**
 * Pauses the Work item's active session: the agent's turn is cancelled, its own session and the worktree stay. No
 * process of it is alive when this resolves: a stopped process would keep its memory, and its connection to the model
 * would time out.
 */
export const pauseSession = async (
  service: TurnNeeds,
  caseId: string,
  meant?: string,
): Promise<Session> => {
  await endUnreadable(service, caseId, { meant, by: 'cancel' });
  const { session } = await activeSession(service, caseId, meant);
  checkEvent(session, 'pause');
  // An approval or a resume may start another run meanwhile, which is cancelled too.
  for (;;) {
    const live = service.engine.live.get(session.id);
    if (live !== undefined) await stopLive(live, 'cancel');
    const kept = await keepPaused(service, session, live);
    if (kept.session.status === 'paused') return kept.session;
  }
};

const keepPaused = async (
  service: TurnNeeds,
  { case_id, id }: Session,
  live: LiveRun | undefined,
): Promise<StoredSession> => {
  const stopped = orNotFound(readSession(service.store, case_id, id), 'session', id);
  const turn = live?.result;
  const ending = await wrapUp(service, stopped, { status: 'paused', turn });
  const kept = await decide(service, stopped.session, (current, matter) =>
    service.engine.live.has(id) ? undefined : pause(ending)(current, matter),
  );
  if (kept === undefined) throw notFound('session', id);
  if (kept.session.status !== 'paused') return kept;
  noteStatus(service.engine, kept);
  // The agent's permission requests ended with its turn.
  if (live !== undefined && live.asking.size > 0)
    await doOrDefer(service.store, `unblock ${case_id}`, {
      what: `ending the BLOCKED state of Work item ${case_id}`,
      work: () => unblockCase(service, case_id),
    });
  return kept;
};
