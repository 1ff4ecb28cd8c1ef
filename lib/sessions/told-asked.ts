import type { EventBody } from '../../store/records/event.ts';
import { visible } from '../../store/text/visible.ts';
import type { RunEvent } from '../providers/provider.ts';
import type { Service } from '../service.ts';
import type { LiveRun } from './engine.ts';

type Permission = Extract<RunEvent, { type: 'permission_request' | 'permission_resolved' }>;

/** Tells everybody who listens that an agent asks the operator, or that it does not any more. */
export const tellAsked = async (
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  live: Pick<LiveRun, 'case_id' | 'session_id'>,
  event: Permission,
): Promise<void> => {
  await store.journal.append({ events: [bodyOf(live, event, clock().toISOString())] });
};

const bodyOf = (
  { case_id, session_id }: Pick<LiveRun, 'case_id' | 'session_id'>,
  { type, data }: Permission,
  timestamp: string,
): EventBody => {
  const { request_id } = data;
  const request = { case_id, session_id, request_id };
  if (type === 'permission_resolved') {
    const payload = { ...request, option_id: data.option_id };
    return { event_type: 'permission_answered', timestamp, payload };
  }
  const { title, kind, command } = data;
  const payload = {
    ...{ ...request, title: shown(title), kind: shown(kind) },
    ...(command !== undefined && { command: shown(command) }),
  };
  return { event_type: 'permission_requested', timestamp, payload };
};

const LONGEST = 2000;

// An agent's words are as long as it likes, and anything may be in them.
const shown = (text: string): string => visible(text.slice(0, LONGEST));
