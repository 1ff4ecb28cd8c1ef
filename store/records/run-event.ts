import { type Static, Type } from 'typebox';
import { Id, orNull, Time } from './fields.ts';
import { QUESTION_EVENTS } from './question.ts';
import { Usage, Waiting } from './session.ts';

const Text = Type.String();
const CallId = { tool_call_id: Text };
const asked = {
  request_id: Id,
  title: Text,
  kind: Type.String({ description: 'The kind of tool: `execute`, `edit`, `read`, …' }),
};
const locations = Type.Optional(
  Type.Array(Text, { description: 'The affected files, as the agent names them' }),
);

export const PermissionOption = Type.Object(
  {
    option_id: Text,
    kind: Type.Enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
    name: Text,
  },
  { description: 'An option of the agent' },
);
export type PermissionOption = Static<typeof PermissionOption>;

/** The daemon's option for a simple command, which no agent offers. */
export const PrefixOption = Type.Object(
  {
    option_id: Type.Enum(['allow_prefix', 'allow_project']),
    kind: Type.Enum(['allow_prefix', 'allow_project']),
    name: Text,
  },
  { description: 'An option that the daemon adds for a simple command' },
);
export type PrefixOption = Static<typeof PrefixOption>;

/** The events of a run, by name. */
export const RUN_EVENTS = {
  message: Type.Object({ text: Text }, { description: 'Output of the agent, in pieces' }),
  thought: Type.Object({ text: Text }, { description: 'Reasoning of the agent, in pieces' }),
  tool_call: Type.Object(
    {
      ...CallId,
      title: Text,
      kind: asked.kind,
      status: Type.Enum(['pending', 'in_progress', 'completed', 'failed', 'killed'], {
        description: '`killed`: ended by the operator or the shutdown of the daemon',
      }),
      output: Type.Optional(
        Type.String({
          description:
            'Present after the call. Of more than 65,536 characters, the head and the tail, with a line between that counts the rest',
        }),
      ),
      truncated: Type.Optional(Type.Boolean({ description: 'Whether the output is incomplete' })),
      exit_code: Type.Optional(
        Type.Integer({
          description: 'The exit code of a finished command, if the agent reports it',
        }),
      ),
      locations,
      diffs: Type.Optional(
        Type.Array(Type.Object({ path: Text, old_text: orNull(Text), new_text: Text }), {
          description: 'The file changes of the call, after it',
        }),
      ),
    },
    { description: 'A command, a block or a tool. Each change sends the whole call again' },
  ),
  tool_output: Type.Object(
    { ...CallId, text: Text },
    { description: 'New output of a running call: at most 65,536 characters' },
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
      description: `Events are missing here. \`not_readable\`: the events \`from\` to \`to\` are no longer in the session's
file, because it was edited by hand or came from another branch; they are lost. \`kept_elsewhere\`: events.ndjson reached
5 MiB; later text of the agent and output of tools (\`message\`, \`thought\`, \`agent_event\`, \`tool_output\`, the
\`output\` and \`diffs\` of \`tool_call\`) are only on the machine that ran the session, whose stream has
\`log_continued\` instead and is complete. \`log_full\`: these events reached 64 MiB; later ones are not stored.
\`output_long\`: further output of a running call (\`tool_call_id\`) is not sent; the completed call has the beginning and the end`,
    },
  ),
  plan: Type.Object(
    { entries: Type.Array(Type.Object({ content: Text, status: Text })) },
    { description: "The agent's list of next steps" },
  ),
  permission_request: Type.Object(
    {
      ...asked,
      command: Type.Optional(
        Type.String({ description: 'The command, if the agent sends it as data' }),
      ),
      other_arguments: Type.Optional(
        Type.String({
          description:
            'The other arguments of the tool call as JSON, long values cut in the middle: another directory, variables, standard input. Absent if the command alone decides what runs',
        }),
      ),
      locations,
      options: Type.Array(Type.Union([PermissionOption, PrefixOption])),
    },
    { description: 'The operator is asked for permission, and the turn waits for the answer' },
  ),
  permission_resolved: Type.Object(
    {
      ...asked,
      option_id: orNull(Text, 'Null for the answer "cancelled"'),
      by: Type.Enum(['policy', 'operator', 'agent', 'daemon'], {
        description:
          '`agent`: it withdrew the request. `daemon`: its turn ended, was stopped, or was interrupted for a message before an answer; until 0.1.0 this is `operator` with a null `option_id`',
      }),
      prefix: Type.Optional(
        Type.String({
          description:
            'The prefix allowed for the session or its project that permits this command',
        }),
      ),
    },
    { description: 'Follows a request, or comes alone if the policy decided' },
  ),
  ...QUESTION_EVENTS,
  usage: Type.Object(Usage.properties, { description: 'The usage of the turn so far' }),
  network: Type.Object(
    {
      host: Text,
      port: Type.Integer(),
      allowed: Type.Boolean(),
      reason: Type.Optional(Text),
    },
    {
      description:
        "The network connections of the session's programs, allowed and refused: each target once per turn and outcome, at most 200. Only for programs with a network of their own",
    },
  ),
  sandbox_limit: Type.Object(
    {
      tool_call_id: Type.Optional(Text),
      message: Type.String({ description: 'For people' }),
    },
    {
      description:
        "The output of a failed tool call (`tool_call_id`) points to a limit of the sandbox. Or, in Plan mode, the operator's own configuration of the agent names what the sandbox hides. `message` has the limit and the setting that changes it. Each once per turn",
    },
  ),
  waiting: Type.Object(Waiting.properties, {
    description: 'What the session waits for: the first answer of the agent, or its model',
  }),
  waiting_over: Type.Object({ since: Time }, { description: 'The wait has ended' }),
  agent_state: Type.Object(
    {
      mode: Type.Optional(Text),
      title: Type.Optional(Text),
      context: Type.Optional(
        Type.Object(
          { used: Type.Number(), size: Type.Number() },
          { description: 'The use of the context window, in tokens' },
        ),
      ),
      commands: Type.Optional(Type.Array(Text)),
      options: Type.Optional(
        Type.Array(
          Type.Object({ id: Text, name: Text, category: Type.Optional(Text), value: Text }),
        ),
      ),
    },
    { description: 'The configuration of the agent; only changed values' },
  ),
  agent_event: Type.Object(
    { kind: Text, raw: Type.Unknown() },
    { description: 'Any other message of the agent, unchanged' },
  ),
};

/** An agent's refreshed login that could not be stored in its home directory. */
interface LoginKept {
  type: 'error';
  data: { code: 'login_kept'; message: string };
}

type Data = { [E in keyof typeof RUN_EVENTS]: Static<(typeof RUN_EVENTS)[E]> };

/** One event, which is written to events.ndjson and streamed. */
export type RunEvent = { [E in keyof Data]: { type: E; data: Data[E] } }[keyof Data] | LoginKept;
