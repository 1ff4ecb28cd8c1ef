import { type KeptSession, readSession } from '../../store/sessions/sessions.ts';
import type { RunResult } from '../providers/provider.ts';
import type { Service } from '../service.ts';
import { decide } from './decide.ts';
import { fail } from './rules.ts';
import { wrapUp } from './wrap-up.ts';

/** Nothing is written for a run that ended because the daemon stops, or because somebody else ends the session. */
export const stopped = ({ engine }: Service, { outcome }: RunResult): boolean =>
  engine.closing || outcome === 'cancelled';

/** Ends a session that did not work out, with the reason, and lets the Work item wait for the operator. */
export const endFailed = async (
  service: Service,
  kept: KeptSession,
  error: string,
  turn?: RunResult,
): Promise<void> => {
  const { case_id, id } = kept.session;
  const current = readSession(service.store, case_id, id) ?? kept;
  const ending = await wrapUp(service, current, { status: 'failed', error, turn });
  await decide(service, case_id, id, fail({ ...ending, error }));
};
