import { readSession, type StoredSession } from '../../../../store/sessions/sessions.ts';
import type { RunResult } from '../../../agents/provider.ts';
import { decide } from '../guards/decide.ts';
import type { Engine } from '../live/engine.ts';
import type { TurnNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { fail, interrupt } from '../rules/rules.ts';
import { wrapUp } from './wrap-up.ts';

/** Nothing is written for a run that ended because the daemon stops, or because somebody else ends the session. */
export const wasCancelled = (engine: Engine, { outcome }: RunResult): boolean =>
  engine.closing || outcome === 'cancelled';

/**
 * What a turn that failed comes to: a session that waits, with its lock, where its model does not serve it for now;
 * else one that has failed.
 */
export const endTurn = (
  service: TurnNeeds,
  kept: StoredSession,
  error: string,
  turn: RunResult,
): Promise<void> =>
  turn.outage === undefined
    ? failSession(service, kept, error, turn)
    : pauseForOutage(service, kept, error, turn);

const pauseForOutage = async (
  service: TurnNeeds,
  kept: StoredSession,
  error: string,
  turn?: RunResult,
): Promise<void> => {
  const { case_id, id } = kept.session;
  const ending = await wrapUpCurrent(service, kept, { status: 'paused', error, turn });
  const paused = await decide(
    service,
    case_id,
    id,
    interrupt(error, { ...ending, outage: turn?.outage }),
  );
  if (paused?.session.status !== 'paused') return;
  service.engine.transcript(paused).append('error', { message: error });
  noteStatus(service.engine, paused);
};

/** Ends a session that did not work out, with the reason, and lets the Work item wait for the operator. */
export const failSession = async (
  service: TurnNeeds,
  kept: StoredSession,
  error: string,
  turn?: RunResult,
): Promise<void> => {
  const { case_id, id } = kept.session;
  const ending = await wrapUpCurrent(service, kept, { status: 'failed', error, turn });
  await decide(service, case_id, id, fail({ ...ending, error }));
};

// As the record is now; as it was last read where it is gone.
const wrapUpCurrent = (
  service: TurnNeeds,
  kept: StoredSession,
  end: Parameters<typeof wrapUp>[2],
): ReturnType<typeof wrapUp> => {
  const { case_id, id } = kept.session;
  return wrapUp(service, readSession(service.store, case_id, id) ?? kept, end);
};
