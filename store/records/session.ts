import { type Static, Type } from 'typebox';
import { State } from './case.ts';
import { Commands, CommandsMatter } from './commands.ts';
import { Id, maybe, orNull, Sha256, Time, textOf, Word } from './fields.ts';
import { MessageMatter } from './message.ts';
import { SessionCommit, WorkCommit } from './work-commit.ts';

export const STATUSES = [
  'queued',
  'planning',
  'plan_ready',
  'working',
  'paused',
  'completed',
  'failed',
  'aborted',
] as const;
export type Status = (typeof STATUSES)[number];
const ENDED: readonly Status[] = ['completed', 'failed', 'aborted'];

/** Whether a session has ended. */
export const isEnded = (status: string): boolean => ENDED.some((ended) => ended === status);

/** Whether a session waits for the operator. */
export const isWaiting = (status: string | undefined): boolean =>
  status === 'plan_ready' || status === 'paused';

/** The order in which sessions are listed and started: by creation. */
export const byAge = (a: Made, b: Made): number => (ageOf(a) < ageOf(b) ? -1 : 1);

type Made = Pick<Session, 'created_at' | 'id'>;
const ageOf = ({ created_at, id }: Made): string => `${created_at} ${id}`;

export const Usage = Type.Object(
  {
    input_tokens: Type.Union([Type.Null(), Type.Integer()]),
    output_tokens: Type.Union([Type.Null(), Type.Integer()]),
    cost_usd: Type.Union([Type.Null(), Type.Number()]),
    at_least: Type.Optional(
      Type.Boolean({
        description: 'True if a turn was interrupted before its agent reported all usage',
      }),
    ),
  },
  { $id: 'Usage', description: 'Null if the agent does not report it' },
);

/** The model options of a session. They become program arguments, so they must not look like flags. */
export const Choice = {
  model: Type.Optional(
    textOf('model', {
      description:
        'The model, as the agent names it. Default: that of the settings, or else of the agent',
    }),
  ),
  effort: Type.Optional(
    textOf('effort', {
      description: 'The reasoning effort, as the agent names it: `low`, `high`',
    }),
  ),
};

/** The provider and its model options. */
export const ProviderChoice = {
  provider: Type.Optional(
    Type.String({ minLength: 1, description: 'Overrides the provider of the settings' }),
  ),
  ...Choice,
};

const told = {
  id: Id,
  type: Word,
  mode: Type.Enum(['plan', 'work'], {
    description: 'Plan mode until the operator approves the plan',
  }),
  status: Type.Enum([...STATUSES], {
    description:
      'Transitions: `queued` → `planning`, `paused`, `failed`, `aborted`; `planning` → `plan_ready`, `paused`, `failed`, `aborted`; `plan_ready` → `working`, `planning`, `failed`, `aborted`; `working` → `completed`, `paused`, `failed`, `aborted`; `paused` → `planning`, `working`, `failed`, `aborted`. Final: `completed`, `failed`, `aborted`',
  }),
  provider: Type.String(),
  ...Choice,
};
const TextOrNull = orNull(Type.String());

export type Usage = Static<typeof Usage>;

export const TextWarning = Type.Object(
  {
    line: Type.Integer({ description: 'From 1' }),
    column: Type.Integer({ description: 'From 1, in characters' }),
    kind: Type.Enum(
      ['control', 'bidi', 'invisible', 'line_separator', 'long_blank', 'blank_lines'],
      {
        description:
          '`long_blank`: 80 or more columns of blanks before more text; `blank_lines`: 20 or more empty lines before more text',
      },
    ),
    text: Type.String({ description: 'The text, made visible' }),
  },
  { $id: 'TextWarning' },
);
export type TextWarning = Static<typeof TextWarning>;

export const PauseReason = Type.Enum(
  ['operator', 'usage_limit', 'model_unavailable', 'login', 'interrupted'],
  {
    description:
      '`usage_limit`: the usage limit of the model is reached; `model_unavailable`: the model failed or cannot be reached; `login`: the credential was rejected; `interrupted`: the daemon stopped or could not continue, or the directory of the session was removed',
  },
);
export type PauseReason = Static<typeof PauseReason>;

export const Waiting = Type.Object(
  {
    for: Type.Enum(['agent', 'model', 'operator'], {
      description:
        '`operator`: its agent has a question; `GET /attention` has the request that answers it',
    }),
    since: Time,
    message: Type.String(),
    http_status: Type.Optional(Type.Integer()),
    attempt: Type.Optional(Type.Integer()),
    attempts: Type.Optional(Type.Integer()),
    retry_at: Type.Optional(Time),
    stderr: Type.Optional(
      Type.String({ description: "The end of the agent's standard error, made visible" }),
    ),
  },
  { $id: 'Waiting', description: 'What a running session waits for, and since when' },
);
export type Waiting = Static<typeof Waiting>;

export const Attached = Type.Object(
  { started_at: Time, ended_at: orNull(Time, 'Null while it is attached') },
  {
    $id: 'Attached',
    description: "A time during which the agent's own terminal interface was attached",
  },
);
export type Attached = Static<typeof Attached>;

/** The front matter of session.md; the body is a summary for people. */
export const SessionMatter = Type.Object({
  ...told,
  branch: maybe(Type.String()),
  base_commit: maybe(Type.String()),
  plan_sha256: maybe(Sha256),
  approved_at: maybe(Time),
  approved_by: maybe(Type.String()),
  approved_name: maybe(Type.String()),
  /** The hash of approved.md. Sessions approved by older releases have only `plan_sha256`. */
  approved_sha256: maybe(Sha256),
  /** The commands of the plan approved to run without asking. */
  unasked: maybe(Type.Array(Type.String())),
  created_at: Time,
  started_at: maybe(Time),
  ended_at: maybe(Time),
  usage: maybe(Usage),
  error: maybe(Type.String()),
  /** The results of its approved commands. */
  commands: maybe(CommandsMatter),
  /** The commit of its work. */
  commit: maybe(WorkCommit),
  /** Whether the operator dismissed its end from the inbox. */
  dismissed_at: maybe(Time),
  /** Why it is paused. */
  pause_reason: maybe(PauseReason),
  /** When resuming can succeed, if the agent reported it. */
  resume_at: maybe(Time),
  /** The base of the worktree, if the session creates it. */
  base: maybe(Type.String()),
  /** The operator's instructions at creation. */
  comment: maybe(Type.String()),
  /** The operator's messages since then, in order. */
  messages: maybe(Type.Array(MessageMatter)),
  /** When the agent's own terminal interface was attached, in order. */
  attached: maybe(Type.Array(Attached)),
  /** The requested changes of the plan, until there is a new plan. */
  feedback: maybe(Type.String()),
  /** The id of the machine that created it, which alone continues it. */
  machine: Type.Optional(Id),
  /** The state of the Work item before this session. */
  case_state_before: Type.Optional(State),
  /** The agent's session id, to resume it. */
  native_session_id: Type.Optional(Type.String()),
  /** The cumulative cost of the agent's session, as the agent reports it. */
  native_cost_usd: Type.Optional(Type.Number()),
  /** The marker in the environment of the latest run's processes, by which a restarted daemon finds them. */
  run_marker: Type.Optional(Id),
  /** The hash of the body, if the daemon wrote it. */
  summary_sha256: Type.Optional(Sha256),
});
export type SessionMatter = Static<typeof SessionMatter>;

export const Session = Type.Object(
  {
    ...told,
    case_id: Id,
    path: Type.String({ description: 'Its directory, relative to the workspace' }),
    branch: TextOrNull,
    base_commit: TextOrNull,
    plan_sha256: orNull(
      Sha256,
      'The hash of plan.md: before the approval of its current text, then of the approved text. Null without a plan',
    ),
    approved_at: orNull(Time),
    approved_by: orNull(Type.String(), '`operator`, or `operator (key NAME)` with an API key'),
    approved_name: Type.Optional(
      Type.String({
        description: "A label: the name of the API key, else git's `user.name` on this machine",
      }),
    ),
    approved_sha256: orNull(
      Sha256,
      'The hash of approved.md, the text that runs. Null before the approval, and for approvals by older releases',
    ),
    unasked: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'The commands of the plan approved to run without asking, while `permissions.execute` is `plan` and the sandbox is enforced',
      }),
    ),
    plan_edited: Type.Optional(
      Type.Boolean({
        description: 'True if plan.md differs from the approved plan. Only approved.md runs',
      }),
    ),
    sent_back: Type.Optional(
      Type.Boolean({
        description: 'True if a plan was sent back; `which=sent_back` returns the last one',
      }),
    ),
    came_later: Type.Optional(
      Type.String({
        description:
          'A warning if reviews of a feedback session changed after its plan was made. The agent does not get the new text; `revise` includes it',
      }),
    ),
    warnings: Type.Optional(
      Type.Array(TextWarning, {
        description: 'Hidden or misleading text in the plan: the first hundred places',
      }),
    ),
    created_at: Time,
    started_at: orNull(Time),
    ended_at: orNull(Time),
    usage: orNull(Usage),
    error: TextOrNull,
    commands: Type.Optional(Commands),
    commit: Type.Optional(SessionCommit),
    dismissed_at: Type.Optional(Time),
    attached: Type.Optional(Type.Array(Attached)),
    pause_reason: Type.Optional(PauseReason),
    resume_at: Type.Optional(Time),
    waiting: Type.Optional(Waiting),
    waits_for: Type.Optional(
      Type.Enum(['max_sessions', 'trust'], {
        description:
          'For a `queued` session: it waits for one of the `max_sessions` slots, even with an approved plan, or for the operator to trust a setting. Absent if it waits for another session of its Work item',
      }),
    ),
    unconfirmed: Type.Optional(
      Type.Enum(['started', 'approved'], {
        description:
          'The decision in its files that this machine did not record: its start (`started`), or the approval of its plan (`approved`). Until you confirm it, the session does not run. Confirm `started` with POST /trust, and `approved` by approving the plan again',
      }),
    ),
    elsewhere: Type.Optional(
      Type.Boolean({
        description:
          'True for a session that has not ended and was started on another machine: its files came through git, and only that machine continues it',
      }),
    ),
  },
  { $id: 'Session' },
);
export type Session = Static<typeof Session>;
