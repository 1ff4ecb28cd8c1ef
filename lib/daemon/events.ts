import { type TSchema, Type } from 'typebox';
import { EVENT_TYPES, type EventType, isStarred, PAYLOADS } from '../../store/records/event.ts';
import { Time } from '../../store/records/id.ts';
import { SESSION_EVENTS } from '../../store/records/session-event.ts';
import { deliveredBody, type EventDoc, type StreamDoc } from '../http/openapi-events.ts';
import type { JsonSchema } from '../http/schema.ts';

const SUMMARIES: Record<EventType, string> = {
  session_started: 'A plan was approved and its session began to work',
  session_completed: 'A session has done its work',
  proof_created: 'A proof was attached to a Work item',
  proof_updated: 'A proof was verified, or its content changed',
  agent_completed: 'A plan or work run ended, well or not',
  case_updated: 'The title or the description of a Work item changed',
  case_state_changed: 'A Work item went from one state to another',
  case_created: 'A Work item is there that was not, whoever made it',
  case_deleted: 'A Work item is gone, whoever removed it',
  proof_deleted: 'A proof is gone, whoever took it away',
  checklist_updated: 'Something else is to be proven, or a line was ticked',
  session_plan_ready: 'A plan waits for the operator',
  session_comments_changed: 'What the operator says of a plan is another than before',
  session_paused: 'A session was paused, or was interrupted',
  session_failed: 'A session has failed',
  permission_requested: 'An agent asks the operator for leave, and waits',
  question_requested: 'An agent asks the operator something, and waits',
  question_answered: 'What an agent asked was answered, or is asked no more',
  problem_found: 'A file cannot be used as what it should be',
  problem_mended: 'A file of which a problem was told has it no more',
  trust_needed: 'Something that came by file waits until the operator trusts it',
  attention_changed: 'What needs the operator is another than before: read GET /attention',
  permission_answered: 'What an agent asked leave for was answered, or is asked no more',
};

/** What receivers of webhooks are sent, for the OpenAPI document. */
export const EVENTS: readonly EventDoc[] = EVENT_TYPES.map((name) => ({
  name,
  summary: isStarred(name) ? SUMMARIES[name] : `${SUMMARIES[name]}. Sent where \`events\` names it`,
  payload: PAYLOADS[name],
}));

const frame = (name: string, description: string | undefined, data: unknown) => ({
  type: 'object',
  title: name,
  ...(description !== undefined && { description }),
  required: ['id', 'event', 'data'],
  properties: { id: { type: 'integer' }, event: { type: 'string', const: name }, data },
});

const feedFrame = (name: string, description: string, payload: TSchema) =>
  frame(name, description, deliveredBody(name, payload));

const GAP = feedFrame(
  'gap',
  'Events are missing here',
  Type.Object({
    reason: Type.Enum(['not_kept', 'not_readable', 'other_journal']),
    from: Type.Integer(),
    to: Type.Integer(),
    message: Type.String(),
  }),
);

/** What `GET /events` sends, for the OpenAPI document. */
export const FEED: StreamDoc = {
  text: `Each event has \`id:\` (its number in the journal, which only grows), \`event:\` (its type) and JSON \`data:\`, the
body that a webhook is sent. It begins after \`Last-Event-ID\`, else after \`?after=\`, else with the oldest event that is
kept; the first frame is an \`id:\` alone, so that a client that is cut off before anything happened has a place to come back to. It goes on live and
has no end; a client that comes back with \`Last-Event-ID\` misses nothing and gets nothing twice, also after a restart.

An event \`gap\` says what is missing and why: \`not_kept\`, what is older than what the journal keeps; \`not_readable\`, a
damaged part of it; \`other_journal\`, the number is of a journal that is not this one. Read the Work items anew then. Lines that begin with a colon say that the stream is alive.`,
  event: {
    oneOf: [...EVENT_TYPES.map((type) => feedFrame(type, SUMMARIES[type], PAYLOADS[type])), GAP],
  },
};

// A gap that stands for what cannot be read was never written.
const sessionFrame = ([name, schema]: [string, JsonSchema]) => {
  const { description, properties, required = [], ...rest } = schema;
  return frame(name, description, {
    ...rest,
    required: name === 'gap' ? required : [...required, 'at'],
    properties: { ...properties, at: Time },
  });
};

/** What the stream of a session sends, for the OpenAPI document. */
export const SESSION_STREAM: StreamDoc = {
  text: `Each event has \`id:\` (a number, one more than the one before), \`event:\` and JSON \`data:\`, which the JSON form
describes event by event. The stream begins after \`Last-Event-ID\`, else after \`?after=\`, which counts from the end where
it is negative, else at the beginning; it goes on live and ends after \`complete\`. Whoever comes back after that is answered 204, which ends EventSource. A client that is
cut off comes back with \`Last-Event-ID\`, as EventSource does by itself, and neither misses an event nor gets one twice,
also after a restart of the daemon. An \`error\` is also sent as \`session_error\`, for EventSource has an \`error\` of its own.

A reader may be as slow as it likes: it is sent no more than it takes, its events wait on disk, and none is left out for
it. Lines that begin with a colon say that the stream is alive.

Text comes in events of up to 4,096 characters, at most one in 60 ms while it is shorter. What nobody would see is shown, as
\`␛\` or \`⟦U+202E⟧\`. What is not here, or not all of it, is told by a \`gap\`.`,
  event: { oneOf: Object.entries(SESSION_EVENTS as Record<string, JsonSchema>).map(sessionFrame) },
};
