import type { TSchema } from 'typebox';

/** An event that receivers of webhooks are sent. */
export interface EventDoc {
  name: string;
  summary: string;
  payload: TSchema;
}

type Json = Record<string, unknown>;

/** How one event is delivered. */
export const webhook = ({ name, summary, payload }: EventDoc): Json => ({
  post: {
    operationId: `on_${name}`,
    summary,
    parameters: Object.entries(HEADERS).map(([header, description]) => ({
      name: header,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: deliveredBody(name, payload) } },
    },
    responses: { '2XX': { description: 'Received. Anything else is delivered again, later.' } },
  },
});

const HEADERS = {
  'X-Service-Event': 'The event_type',
  'X-Service-Signature': '`sha256=<hex>`: the HMAC of the raw body, keyed with the secret',
  'X-Service-Delivery': 'The same on every retry',
  'webhook-id': 'Standard Webhooks: the same on every retry',
  'webhook-timestamp': 'Standard Webhooks: when it was sent, in seconds',
  'webhook-signature': 'Standard Webhooks: `v1,<base64>`',
};

/** The body of one event, as receivers and followers get it. */
export const deliveredBody = (name: string, payload: TSchema): Json => ({
  type: 'object',
  required: ['event_type', 'timestamp', 'payload'],
  properties: {
    event_type: { type: 'string', const: name },
    timestamp: { type: 'string', format: 'date-time' },
    payload,
  },
});

const STREAM_TEXT = `Each event has \`id:\` (a number, one more than the one before), \`event:\` and JSON \`data:\`. The
stream begins after \`Last-Event-ID\`, else after \`?after=\`, else at the beginning; it goes on live and ends after
\`complete\`. Whoever comes back after that is answered 204, which ends EventSource. A client that is cut off comes back with \`Last-Event-ID\`, as EventSource does by itself, and neither misses
an event nor gets one twice, also after a restart of the daemon.

A reader may be as slow as it likes: it is sent no more than it takes, its events wait on disk, and none is left out for
it. Lines that begin with a colon say that the stream is alive.

An event \`gap\` says that something is not here, with a \`message\` for people and a \`reason\`:
\`not_readable\`: the events \`from\` to \`to\` are not in the session's file any more, because it was edited by hand or came
from another branch; nobody has them. \`kept_elsewhere\`: events.ndjson has 5 MiB; from here on text of the agent and output
of tools (\`message\`, \`thought\`, \`agent_event\`, \`tool_output\`, the \`output\` and \`diffs\` of \`tool_call\`) are only on
the machine that ran the session, whose stream has an event \`log_continued\` in its place and misses nothing. \`log_full\`:
there are 64 MiB of them; from here on they are not kept, all other events are.

An event \`waiting\` says what the session waits for, \`since\` when: the \`agent\`, that has not answered yet, or its
\`model\`. It has the agent's last words on standard error (\`stderr\`), and, as far as it tells, the \`http_status\`, the
\`attempt\` of how many \`attempts\`, and when it tries again (\`retry_at\`). \`waiting_over\` follows when it goes on.
An event \`tool_output\` tells what a call (\`tool_call_id\`) has written since, while it goes on, up to 65,536 characters. A
\`tool_call\` that is over has in \`diffs\` what it changes in files, as its agent tells it.
An event \`agent_state\` tells how the agent is set up: of \`mode\`, \`title\`, \`context\`, \`commands\` and \`options\` what has changed.

An event \`error\`, which a stream (not the JSON) also sends as \`session_error\`, for EventSource has an \`error\` of its own,
says with a \`message\` why a session failed, or what went wrong in one that goes on. With a \`code\` it
tells what Plan mode found changed. \`plan_mode_violation\`: it was undone; \`files\` and the ref \`kept_ref\` have what was in
the worktree, and \`refs\` names branches, tags and stashes. \`refs_changed\`: such \`refs\` changed while nothing but a
comparison held the agent, and nothing says that it was the agent, so they were left as they are. Each of \`refs\` has the
\`ref\`, the object \`before\` and \`after\` (null: it was not there), \`kept_ref\`, under which what would be lost is kept,
and where it was left \`by\`, whom git names for it, or null. There are 100 at most; \`more\` counts the others.

An event \`approved\` tells the operator's yes: \`approved_at\`, \`approved_by\` and \`approved_sha256\`, the hash of the text
that is kept as approved.md. It is told once, and what runs after it is that text.

An event \`network\` tells of a \`host\` and \`port\` that the session's programs reached (\`allowed\` true) or were refused,
with a \`reason\`: each once a turn for each outcome, 200 at most. Only what has a network of its own is told.

An event \`operator_edit\` tells of a file that the operator changed in the worktree by way of the API, while the session
goes on: \`action\` (\`created\`, \`written\`, \`deleted\`, \`renamed\`, \`directory_created\`), \`path\`, and \`from\` of one that was renamed.

Text comes in events of up to 4,096 characters, at most one in 60 ms while it is shorter. \`output\` is told once a call is
over; of more than 65,536 characters head and tail are kept, with a line between that counts what is left out, and
\`truncated\` is true.`;

/** What a stream sends, for the OpenAPI document. */
export interface StreamDoc {
  text: string;
  /** Of an event in the JSON form. */
  event: unknown;
}

const SESSION: StreamDoc = {
  text: STREAM_TEXT,
  event: {
    type: 'object',
    required: ['id', 'event', 'data'],
    properties: { id: { type: 'integer' }, event: { type: 'string' }, data: {} },
  },
};

/** The two forms of a stream's answer. */
export const streamContent = ({ text, event } = SESSION): Json => ({
  'text/event-stream': {
    schema: { type: 'string', description: text },
  },
  'application/json': {
    schema: {
      type: 'array',
      description:
        'The events so far, where Accept prefers JSON: for polling. With `limit`, so many at most, and `Link: <…>; rel="next"` where there are more.',
      items: event,
    },
  },
});
