import type { EventBody } from '../records/event.ts';
import { isEnded, type Session } from '../records/session.ts';
import type { RunSeen } from './journal-state.ts';

/**
 * The events of a session between its last reported status and its current one. Like the events of files, they come from
 * one comparison, so that a crash between record and journal neither loses nor repeats any.
 */
export const milestoneEvents = (
  before: string | undefined,
  now: Session,
  at: Date,
): EventBody[] => {
  const timestamp = at.toISOString();
  const ofSession = { case_id: now.case_id, session_id: now.id };
  const events: EventBody[] = [];
  if (before === 'plan_ready' && now.status === 'working') {
    events.push({
      event_type: 'session_started',
      timestamp,
      payload: { ...ofSession, provider: now.provider },
    });
  }
  if (ranBefore(before) && !ranBefore(now.status)) {
    const { mode, status, provider } = now;
    events.push({
      event_type: 'agent_completed',
      timestamp,
      payload: { ...ofSession, mode, status, provider },
    });
  }
  if (before === 'working' && now.status === 'completed') {
    events.push({ event_type: 'session_completed', timestamp, payload: ofSession });
  }
  return [...events, ...stops(now, timestamp)];
};

// A session that waits for the operator, or failed.
const stops = (now: Session, timestamp: string): EventBody[] => {
  const { case_id, id: session_id, mode, error, plan_sha256 } = now;
  const ofSession = { case_id, session_id };
  if (now.status === 'plan_ready') {
    const payload = { ...ofSession, plan_sha256 };
    return [{ event_type: 'session_plan_ready', timestamp, payload }];
  }
  if (now.status === 'paused') {
    const { pause_reason, resume_at } = now;
    const payload = {
      ...ofSession,
      mode,
      reason: error,
      ...(pause_reason && { pause_reason }),
      ...(resume_at && { resume_at }),
    };
    return [{ event_type: 'session_paused', timestamp, payload }];
  }
  if (now.status !== 'failed') return [];
  return [{ event_type: 'session_failed', timestamp, payload: { ...ofSession, mode, error } }];
};

const ranBefore = (status: string | undefined): boolean =>
  status === 'planning' || status === 'working';

/** The journal's record of a session; null once it has ended. */
export const runStateOf = ({ case_id, status }: Session, at: Date): RunSeen | null =>
  isEnded(status) ? null : { case_id, status, since: at.toISOString() };
