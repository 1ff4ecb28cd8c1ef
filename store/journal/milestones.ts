import type { EventBody } from '../records/event.ts';
import { isEnded, type Session } from '../records/session.ts';

/**
 * The events of a session's way from what was last told of it to what it is now. Like those of files they are born in
 * one place, from a comparison, so that a crash between record and journal loses none and repeats none.
 */
export const milestones = (before: string | undefined, now: Session, at: Date): EventBody[] => {
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
  return events;
};

const ranBefore = (status: string | undefined): boolean =>
  status === 'planning' || status === 'working';

/** What the journal keeps of a session: nothing once it has ended. */
export const runStateOf = ({
  case_id,
  status,
}: Session): { case_id: string; status: string } | null =>
  isEnded(status) ? null : { case_id, status };
