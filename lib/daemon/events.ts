import { type TSchema, Type } from 'typebox';
import { EVENT_TYPES, type EventType, isStarred, PAYLOADS } from '../../store/records/event.ts';
import { Time } from '../../store/records/fields.ts';
import { SESSION_EVENTS } from '../../store/records/session-event.ts';
import { deliveredBody, type EventDoc, type StreamDoc } from '../http/openapi-events.ts';
import type { JsonSchema } from '../http/schema.ts';

const SUMMARIES: Record<EventType, string> = {
  session_started: 'A plan was approved and its session started to work',
  session_completed: 'A session completed its work',
  proof_created: 'A proof was attached to a Work item',
  proof_updated: 'A proof was verified, or its content changed',
  agent_completed: 'An agent run in Plan or Work mode ended, successfully or not',
  case_updated:
    'The title, type, project or description of a Work item changed, or its branch was merged',
  case_state_changed: 'The state of a Work item changed',
  case_created: 'A Work item was created, by the API or by file',
  case_deleted: 'A Work item was deleted, by the API or by file',
  proof_deleted: 'A proof was deleted, by the API or by file',
  checklist_updated: 'The proof checklist of a Work item changed',
  session_plan_ready: 'A plan is ready for approval',
  session_comments_changed: "The operator's comments on a plan changed",
  session_paused: 'A session was paused or interrupted',
  session_failed: 'A session failed',
  permission_requested: 'An agent requests a permission and waits for the answer',
  question_requested: 'An agent asks a question and waits for the answer',
  question_answered: 'A question was answered or withdrawn',
  problem_found: 'A file was found to be invalid',
  problem_mended: 'A file is valid again, or a problem with it is solved',
  trust_needed: 'A value that was set by file needs to be trusted by the operator',
  attention_changed: 'The inbox changed: read GET /attention',
  permission_answered: 'A permission request was answered or withdrawn',
};

/** The events of webhooks, for the OpenAPI document. */
export const EVENTS: readonly EventDoc[] = EVENT_TYPES.map((name) => ({
  name,
  summary: isStarred(name)
    ? SUMMARIES[name]
    : `${SUMMARIES[name]}. Sent only if \`events\` names it`,
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
  'Events are missing at this point',
  Type.Object({
    reason: Type.Enum(['not_kept', 'not_readable', 'other_journal']),
    from: Type.Integer(),
    to: Type.Integer(),
    message: Type.String(),
  }),
);

/** The stream of `GET /events`, for the OpenAPI document. */
export const FEED: StreamDoc = {
  text: `Each event has \`id:\` (its increasing number in the journal), \`event:\` (its type) and JSON \`data:\` (the body of the
webhook). The stream starts after \`Last-Event-ID\`, else after \`?after=\`, else with the oldest event in the journal. It then
sends live events and does not end. The first frame is an \`id:\` alone, so that a client can reconnect before the first event.
A client that reconnects with \`Last-Event-ID\` misses no event and receives none twice, also after a restart of the daemon.

A \`gap\` event reports missing events and the reason: \`not_kept\` (older than the journal), \`not_readable\` (a damaged part of
the journal) or \`other_journal\` (the id is from another journal). Read the Work items again after it. Lines that begin with a
colon keep the connection alive.`,
  event: {
    oneOf: [...EVENT_TYPES.map((type) => feedFrame(type, SUMMARIES[type], PAYLOADS[type])), GAP],
  },
};

// A gap for unreadable events was never recorded, so it has no time.
const sessionFrame = ([name, schema]: [string, JsonSchema]) => {
  const { description, properties, required = [], ...rest } = schema;
  return frame(name, description, {
    ...rest,
    required: name === 'gap' ? required : [...required, 'at'],
    properties: { ...properties, at: Time },
  });
};

/** The stream of a session, for the OpenAPI document. */
export const SESSION_STREAM: StreamDoc = {
  text: `Each event has \`id:\` (consecutive numbers), \`event:\` and JSON \`data:\`; the JSON form describes every event. The
stream starts after \`Last-Event-ID\`, else after \`?after=\` (negative: counted from the end), else at the beginning. It then
sends live events and ends after \`complete\`. A request after that gets 204, which stops EventSource. A client that reconnects
with \`Last-Event-ID\`, as EventSource does, misses no event and receives none twice, also after a restart of the daemon. An
\`error\` is also sent as \`session_error\`, because EventSource has an \`error\` event of its own.

A slow client misses no event: events are read from disk at its speed. Lines that begin with a colon keep the connection alive.

Text is sent in events of up to 4,096 characters, shorter ones at most every 60 ms. Control and invisible characters are shown
as \`␛\` or \`⟦U+202E⟧\`. A \`gap\` event reports missing or shortened events.`,
  event: { oneOf: Object.entries(SESSION_EVENTS as Record<string, JsonSchema>).map(sessionFrame) },
};
