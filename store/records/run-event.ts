import { type Static, Type } from 'typebox';
import { Id, Time } from './id.ts';
import { orNull } from './or-null.ts';
import { QUESTION_EVENTS } from './question.ts';
import { Usage, Waiting } from './session.ts';

const Text = Type.String();
const CallId = { tool_call_id: Text };
const asked = {
  request_id: Id,
  title: Text,
  kind: Type.String({ description: 'What kind of tool it is: `execute`, `edit`, `read`, …' }),
};
const locations = Type.Optional(
  Type.Array(Text, { description: 'The files that it is about, as the agent names them' }),
);

export const PermissionOption = Type.Object(
  {
    option_id: Text,
    kind: Type.Enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
    name: Text,
  },
  { description: "The agent's own" },
);
export type PermissionOption = Static<typeof PermissionOption>;

/** The daemon's own option for a plain command: no agent knows of it. */
export const PrefixOption = Type.Object(
  {
    option_id: Type.Enum(['allow_prefix', 'allow_project']),
    kind: Type.Enum(['allow_prefix', 'allow_project']),
    name: Text,
  },
  { description: "The daemon's, for a plain command" },
);
export type PrefixOption = Static<typeof PrefixOption>;

/** What a run tells while it goes on, by the name of the event. */
export const RUN_EVENTS = {
  message: Type.Object({ text: Text }, { description: 'What the agent says, piece by piece' }),
  thought: Type.Object({ text: Text }, { description: 'What it says that it thinks' }),
  tool_call: Type.Object(
    {
      ...CallId,
      title: Text,
      kind: asked.kind,
      status: Type.Enum(['pending', 'in_progress', 'completed', 'failed', 'killed'], {
        description: '`killed`: the operator, or the end of the daemon, ended it',
      }),
      output: Type.Optional(
        Type.String({
          description:
            'Once it is over. Of more than 65,536 characters head and tail, with a line between that counts what is left out',
        }),
      ),
      truncated: Type.Optional(Type.Boolean({ description: 'Not all of its output is here' })),
      exit_code: Type.Optional(
        Type.Integer({ description: 'Of a command that has ended, where its agent reports it' }),
      ),
      locations,
      diffs: Type.Optional(
        Type.Array(Type.Object({ path: Text, old_text: orNull(Text), new_text: Text }), {
          description: 'What it changes in files, once it is over',
        }),
      ),
    },
    { description: 'A command, a block or a tool: told anew, whole, with each change' },
  ),
  tool_output: Type.Object(
    { ...CallId, text: Text },
    { description: 'What a call has written since, while it goes on: 65,536 characters at most' },
  ),
  gap: Type.Object(
    {
      reason: Type.Enum(['not_readable', 'kept_elsewhere', 'log_full', 'output_long']),
      message: Type.String({ description: 'For people' }),
      from: Type.Optional(Type.Integer()),
      to: Type.Optional(Type.Integer()),
      tool_call_id: Type.Optional(Text),
    },
    {
      description: `Something is not here. \`not_readable\`: the events \`from\` to \`to\` are not in the session's file any
more, because it was edited by hand or came from another branch; nobody has them. \`kept_elsewhere\`: events.ndjson has
5 MiB; from here on text of the agent and output of tools (\`message\`, \`thought\`, \`agent_event\`, \`tool_output\`, the
\`output\` and \`diffs\` of \`tool_call\`) are only on the machine that ran the session, whose stream has \`log_continued\`
in its place and misses nothing. \`log_full\`: there are 64 MiB of them; from here on they are not kept, all else is.
\`output_long\`: what a call (\`tool_call_id\`) goes on to write is not told while it goes on; its end has head and tail`,
    },
  ),
  plan: Type.Object(
    { entries: Type.Array(Type.Object({ content: Text, status: Text })) },
    { description: "The agent's own list of what it is about to do" },
  ),
  permission_request: Type.Object(
    {
      ...asked,
      command: Type.Optional(
        Type.String({ description: 'What would be run, where the agent tells it as data' }),
      ),
      locations,
      options: Type.Array(Type.Union([PermissionOption, PrefixOption])),
    },
    { description: 'The operator is asked, and the turn waits for the answer' },
  ),
  permission_resolved: Type.Object(
    {
      ...asked,
      option_id: orNull(Text, 'null: answered "cancelled"'),
      by: Type.Enum(['policy', 'operator']),
      prefix: Type.Optional(
        Type.String({
          description: 'What is allowed for the session or its project, and by which this one is',
        }),
      ),
    },
    { description: 'Follows a request, or stands alone where the policy decided' },
  ),
  ...QUESTION_EVENTS,
  usage: Type.Object(Usage.properties, { description: 'What the turn has used so far' }),
  network: Type.Object(
    {
      host: Text,
      port: Type.Integer(),
      allowed: Type.Boolean(),
      reason: Type.Optional(Text),
    },
    {
      description:
        "What the session's programs reached, or were refused: each once a turn for each outcome, 200 at most. Only what has a network of its own is told",
    },
  ),
  waiting: Type.Object(Waiting.properties, {
    description: 'What the session waits for: the agent, that has not answered yet, or its model',
  }),
  waiting_over: Type.Object({ since: Time }, { description: 'It goes on' }),
  agent_state: Type.Object(
    {
      mode: Type.Optional(Text),
      title: Type.Optional(Text),
      context: Type.Optional(
        Type.Object(
          { used: Type.Number(), size: Type.Number() },
          { description: 'How full it is, in tokens' },
        ),
      ),
      commands: Type.Optional(Type.Array(Text)),
      options: Type.Optional(
        Type.Array(
          Type.Object({ id: Text, name: Text, category: Type.Optional(Text), value: Text }),
        ),
      ),
    },
    { description: 'How the agent is set up: of each what has changed' },
  ),
  agent_event: Type.Object(
    { kind: Text, raw: Type.Unknown() },
    { description: 'What the agent told and is none of these, as it told it' },
  ),
};

/** An agent's login that did not go home. */
interface LoginKept {
  type: 'error';
  data: { code: 'login_kept'; message: string };
}

type Data = { [E in keyof typeof RUN_EVENTS]: Static<(typeof RUN_EVENTS)[E]> };

/** One of them; the engine writes each to events.ndjson and streams it. */
export type RunEvent = { [E in keyof Data]: { type: E; data: Data[E] } }[keyof Data] | LoginKept;
