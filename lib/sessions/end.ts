import type { KeptSession } from '../../store/sessions/sessions.ts';
import type { RunResult } from '../providers/provider.ts';
import type { Service } from '../service.ts';
import { decide } from './decide.ts';
import { fail } from './rules.ts';

/** Nothing is written for a run that ended because the daemon stops, or because somebody else ends the session. */
export const stopped = ({ engine }: Service, { outcome }: RunResult): boolean =>
  engine.closing || outcome === 'cancelled';

/** Ends a session that did not work out, with the reason, and lets the Work item wait for the operator. */
export const endFailed = async (
  service: Service,
  { session }: KeptSession,
  error: string,
  end: { result?: RunResult; summary?: string } = {},
): Promise<void> => {
  const at = service.clock().toISOString();
  const { result, summary } = end;
  const rule = fail({
    at,
    error,
    usage: result?.usage,
    ...(summary !== undefined && { summary }),
  });
  await decide(service, session.case_id, session.id, rule);
};
