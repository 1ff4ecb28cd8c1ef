import { visible } from '../../../../store/base/visible.ts';
import type { EventBody } from '../../../../store/records/event.ts';
import type { Store } from '../../../../store/store.ts';
import type { RunEvent } from '../../../agents/provider.ts';

/** The session that asks. */
interface Of {
  case_id: string;
  session_id: string;
}

type Request = 'permission_request' | 'question_request';
type Resolution = 'permission_resolved' | 'question_resolved';

/** A request of an agent, or its resolution. */
export type RequestEvent = Extract<RunEvent, { type: Request | Resolution }>;

/** A permission request or a question of an agent. */
export type AgentRequest = Extract<RunEvent, { type: Request }>;

export const isRequestEvent = (event: RunEvent): event is RequestEvent =>
  isRequest(event) || event.type === 'permission_resolved' || event.type === 'question_resolved';

export const isRequest = (event: RunEvent): event is AgentRequest =>
  event.type === 'permission_request' || event.type === 'question_request';

export const requestId = ({ data }: RequestEvent): string =>
  'question_id' in data ? data.question_id : data.request_id;

/** The agent's text of a request, with invisible characters made visible. */
export const requestText = (asked: AgentRequest): string => {
  if (asked.type === 'question_request') return visible(asked.data.message);
  const { title, command = title, other_arguments } = asked.data;
  return visible(other_arguments === undefined ? command : `${command}\nwith ${other_arguments}`);
};

/** Publishes the event of a request or of its resolution. */
export const publishRequest = async (
  store: Store,
  { case_id, session_id }: Of,
  asking: RequestEvent,
): Promise<void> => {
  const told = {
    timestamp: store.clock().toISOString(),
    ...bodyOf({ case_id, session_id }, asking),
  };
  await store.journal.append({ events: [told as EventBody] });
};

type Told = Pick<EventBody, 'event_type' | 'payload'>;

const bodyOf = (of: Of, { type, data }: RequestEvent): Told => {
  switch (type) {
    case 'question_request': {
      const { question_id, message } = data;
      const payload = { ...of, question_id, message: shown(message) };
      return { event_type: 'question_requested', payload };
    }
    case 'question_resolved': {
      const { question_id, action, by } = data;
      return { event_type: 'question_answered', payload: { ...of, question_id, action, by } };
    }
    case 'permission_request': {
      const { request_id, title, kind, command, other_arguments } = data;
      const payload = {
        ...of,
        request_id,
        title: shown(title),
        kind: shown(kind),
        ...(command !== undefined && { command: shown(command) }),
        ...(other_arguments !== undefined && { other_arguments: shown(other_arguments) }),
      };
      return { event_type: 'permission_requested', payload };
    }
    default: {
      const { request_id, option_id } = data;
      return { event_type: 'permission_answered', payload: { ...of, request_id, option_id } };
    }
  }
};

const LONGEST = 2000;

// An agent's text may have any length and any characters.
const shown = (text: string): string => visible(text.slice(0, LONGEST));
