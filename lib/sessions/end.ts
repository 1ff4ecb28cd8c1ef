import { type KeptSession, updateSession } from '../../store/sessions.ts';
import type { RunResult } from '../providers/provider.ts';
import type { Service } from '../service.ts';
import { fail } from './rules.ts';
import { settle } from './settle.ts';

/** Nothing is written for a run that ended because the daemon stops, or because somebody else ends the session. */
export const stopped = ({ engine }: Service, { outcome }: RunResult): boolean =>
  engine.closing || outcome === 'cancelled';

/** Ends a session that did not work out, with the reason, and lets the Work item wait for the operator. */
export const endFailed = async (
  service: Service,
  { session }: KeptSession,
  error: string,
  summary?: string,
): Promise<void> => {
  const at = service.clock().toISOString();
  const rule = fail({ at, error, ...(summary !== undefined && { summary }) });
  const failed = await updateSession(service.store, session.case_id, session.id, rule);
  if (failed?.session.status === 'failed') await endStream(service, failed);
};

/** What follows from a session's end, and then the last event of its stream. */
export const endStream = async (service: Service, kept: KeptSession): Promise<void> => {
  await settle(service, kept);
  const { id, status, error } = kept.session;
  const transcript = service.engine.transcript(id, kept.dir);
  if (error !== null) transcript.append('error', { message: error });
  noteStatus(service, kept);
  transcript.append('complete', { status, error });
  transcript.sync();
};

export const noteStatus = ({ engine }: Service, { session, dir }: KeptSession): void => {
  engine
    .transcript(session.id, dir)
    .append('status', { status: session.status, mode: session.mode });
};
