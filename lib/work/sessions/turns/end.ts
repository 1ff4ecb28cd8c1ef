import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { RunResult } from '../../../agents/provider.ts';
import { decide } from '../guards/decide.ts';
import type { Engine } from '../live/engine.ts';
import type { TurnNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { fail, interrupt } from '../rules/rules.ts';
import { wrapUp } from './wrap-up.ts';

/** True for a run that ended because the daemon stops or another call ends the session. Nothing is written for it. */
export const wasCancelled = (engine: Engine, { outcome }: RunResult): boolean =>
  engine.closing || outcome === 'cancelled';

/**
 * Ends a failed turn: the session pauses and keeps its lock where its model is unavailable for a while or its agent has not
 * begun, else it fails.
 */
export const endTurn = async (
  service: TurnNeeds,
  kept: StoredSession,
  error: string,
  turn: RunResult,
): Promise<void> => {
  const { outage, not_begun } = turn;
  if (outage === undefined && not_begun !== true) return failSession(service, kept, error, turn);
  const ending = await wrapUp(service, kept, { status: 'paused', error, turn });
  await pauseTurn(service, kept, error, { ...ending, outage });
};

/** Pauses a session that cannot continue, and tells its stream why. */
export const pauseTurn = async (
  service: TurnNeeds,
  kept: StoredSession,
  error: string,
  ending: Parameters<typeof interrupt>[1],
): Promise<void> => {
  const paused = await decide(service, kept.session, interrupt(error, ending));
  if (paused?.session.status !== 'paused') return;
  service.engine.transcript(paused).append('error', { message: error });
  noteStatus(service.engine, paused);
};

/** Fails a session with the reason, which blocks its Work item. */
export const failSession = async (
  service: TurnNeeds,
  kept: StoredSession,
  error: string,
  turn?: RunResult,
): Promise<void> => {
  const ending = await wrapUp(service, kept, { status: 'failed', error, turn });
  await decide(service, kept.session, fail({ ...ending, error }));
};
