import type { Session } from '../../../../store/records/session.ts';
import { readSession, type StoredSession } from '../../../../store/sessions/sessions.ts';
import { rebaseUnderWay } from '../../../code/worktrees/rebase/rebase-state.ts';
import { notFound, orNotFound } from '../../../errors.ts';
import { update } from '../../cases/change.ts';
import { unblock } from '../../cases/moves.ts';
import { activeSession } from '../guards/active.ts';
import { decide } from '../guards/decide.ts';
import { cancelLive, type LiveRun } from '../live/engine.ts';
import type { TurnNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { isRunning, notNow, pause } from '../rules/rules.ts';
import { wrapUp } from '../turns/wrap-up.ts';

/**
 * Stops the Work item's active session so that it can go on later: the agent's turn is cancelled, its own session and
 * the worktree stay as they are. No process of it is alive when this resolves; a stopped process would hold its
 * memory, and its model's connection would time out.
 */
export const pauseSession = async (
  service: TurnNeeds,
  caseId: string,
  meant?: string,
): Promise<Session> => {
  const { session } = await activeSession(service, caseId, meant);
  if (!isRunning(session.status)) throw notNow(session, 'pause');
  // What was approved or resumed at this moment runs again: it is ended, too.
  for (;;) {
    const live = service.engine.live.get(session.id);
    if (live !== undefined) await cancelLive(live);
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
  const kept = await decide(service, case_id, id, (current, matter) =>
    service.engine.live.has(id) ? undefined : pause(ending)(current, matter),
  );
  if (kept === undefined) throw notFound('session', id);
  if (kept.session.status !== 'paused') return kept;
  noteStatus(service.engine, kept);
  // What the agent asked leave for is asked no more.
  const asked = live !== undefined && live.asking.size > 0;
  if (asked && rebaseUnderWay(service.store, case_id) === undefined)
    await update(service.store, case_id, unblock);
  return kept;
};
