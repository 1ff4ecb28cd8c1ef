import { type Static, Type } from 'typebox';
import { State } from './case.ts';
import { Commands, CommandsMatter } from './commands.ts';
import { Id, Sha256, Time, Word } from './id.ts';
import { MessageMatter } from './message.ts';
import { maybe, orNull } from './or-null.ts';
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

/** Nothing more happens in a session that has ended. */
export const isEnded = (status: string): boolean => ENDED.some((ended) => ended === status);

/** The order in which sessions are listed and start: as they were made. */
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
        description: 'True where a turn was cut off before its agent told all that it used',
      }),
    ),
  },
  { $id: 'Usage', description: 'null where the agent does not tell' },
);

/** What a session may choose of its provider. It becomes an argument of a program: nothing that is taken for a flag. */
export const Choice = {
  model: Type.Optional(
    Type.String({
      pattern: '^[!-,./-~](?:[ -~]{0,198}[!-~])?$',
      description: 'As the agent names it; without one, its own or that of the settings',
    }),
  ),
  effort: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      description: 'How long it thinks, as the agent names it: `low`, `high`',
    }),
  ),
};

/** The same, and which provider. */
export const ProviderChoice = {
  provider: Type.Optional(
    Type.String({ minLength: 1, description: "Instead of the settings' provider" }),
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
      'Transitions: `queued` → `planning`, `failed`, `aborted`; `planning` → `plan_ready`, `paused`, `failed`, `aborted`; `plan_ready` → `working`, `planning`, `failed`, `aborted`; `working` → `completed`, `paused`, `failed`, `aborted`; `paused` → `planning`, `working`, `failed`, `aborted`. Final: `completed`, `failed`, `aborted`',
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
          '`long_blank`: 80 columns or more of blanks, `blank_lines`: 20 empty lines or more, and then more text',
      },
    ),
    text: Type.String({ description: 'What is there, made visible' }),
  },
  { $id: 'TextWarning' },
);
export type TextWarning = Static<typeof TextWarning>;

export const PauseReason = Type.Enum(
  ['operator', 'usage_limit', 'model_unavailable', 'login', 'interrupted'],
  {
    description:
      '`usage_limit`: the model has had enough requests; `model_unavailable`: it failed, or cannot be reached; `login`: it does not take the credential; `interrupted`: the daemon ended, or could not go on',
  },
);
export type PauseReason = Static<typeof PauseReason>;

export const Waiting = Type.Object(
  {
    for: Type.Enum(['agent', 'model', 'operator'], {
      description:
        '`operator`: its agent asks something; `GET /attention` has the call that answers',
    }),
    since: Time,
    message: Type.String(),
    http_status: Type.Optional(Type.Integer()),
    attempt: Type.Optional(Type.Integer()),
    attempts: Type.Optional(Type.Integer()),
    retry_at: Type.Optional(Time),
    stderr: Type.Optional(
      Type.String({ description: "The last words on the agent's standard error, made visible" }),
    ),
  },
  { $id: 'Waiting', description: 'What a session that runs waits for, and since when' },
);
export type Waiting = Static<typeof Waiting>;

/** The front matter of session.md; the body is a summary for people. */
export const SessionMatter = Type.Object({
  ...told,
  branch: maybe(Type.String()),
  base_commit: maybe(Type.String()),
  plan_sha256: maybe(Sha256),
  approved_at: maybe(Time),
  approved_by: maybe(Type.String()),
  /** Of approved.md. A session approved before there was one has only `plan_sha256`. */
  approved_sha256: maybe(Sha256),
  /** The commands of the plan that were approved to run without asking. */
  unasked: maybe(Type.Array(Type.String())),
  created_at: Time,
  started_at: maybe(Time),
  ended_at: maybe(Time),
  usage: maybe(Usage),
  error: maybe(Type.String()),
  /** What its approved commands came to. */
  commands: maybe(CommandsMatter),
  /** What became of its files in git. */
  commit: maybe(WorkCommit),
  /** The operator has seen how it ended: it needs nobody any more. */
  dismissed_at: maybe(Time),
  /** Why it is paused. */
  pause_reason: maybe(PauseReason),
  /** When going on can work, where the agent told it. */
  resume_at: maybe(Time),
  /** What its worktree begins from, where it makes it. */
  base: maybe(Type.String()),
  /** What the operator said to it when it was made. */
  comment: maybe(Type.String()),
  /** What the operator said to it since, in order. */
  messages: maybe(Type.Array(MessageMatter)),
  /** What the operator wanted changed in the plan, until there is another. */
  feedback: maybe(Type.String()),
  /** The name of the `.dossier/` that it was made with: only that machine goes on with it. */
  machine: Type.Optional(Id),
  /** Where the Work item was before this session. */
  case_state_before: Type.Optional(State),
  /** The agent's own name for its session, to resume it. */
  native_session_id: Type.Optional(Type.String()),
  /** What that one has cost so far as the agent tells it, whose figure is cumulative. */
  native_cost_usd: Type.Optional(Type.Number()),
  /** In the environment of every process of the newest run, so that a restarted daemon finds what it left behind. */
  run_marker: Type.Optional(Id),
});
export type SessionMatter = Static<typeof SessionMatter>;

export const Session = Type.Object(
  {
    ...told,
    case_id: Id,
    path: Type.String({ description: 'Its directory, relative to the workspace' }),
    branch: TextOrNull,
    base_commit: TextOrNull,
    plan_sha256: orNull(Sha256, 'Of plan.md, where there is one: as it is, and as approved after'),
    approved_at: orNull(Time),
    approved_by: orNull(
      Type.String(),
      '`operator`, or `operator (key NAME)` where an API key was shown',
    ),
    approved_sha256: orNull(
      Sha256,
      'Of approved.md: the text that runs. null before, and where an older version approved',
    ),
    unasked: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'The commands of the plan that were approved to run without asking, while `permissions.execute` is `plan` and its sandbox is enforced',
      }),
    ),
    plan_edited: Type.Optional(
      Type.Boolean({
        description:
          'True where plan.md is another than what was approved; what runs is approved.md',
      }),
    ),
    sent_back: Type.Optional(
      Type.Boolean({
        description: 'True where a plan was sent back: `which=sent_back` has the last one',
      }),
    ),
    warnings: Type.Optional(
      Type.Array(TextWarning, {
        description:
          'What a reader of the plan would not see, or take for something else: the first hundred',
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
    pause_reason: Type.Optional(PauseReason),
    resume_at: Type.Optional(Time),
    waiting: Type.Optional(Waiting),
    waits_for: Type.Optional(
      Type.Enum(['max_sessions', 'trust'], {
        description:
          'Of one that is `queued`: a place among the `max_sessions` that run at once, also where its plan is approved already; or the operator, who has to trust a setting. Absent where it waits for another session of its Work item',
      }),
    ),
    unconfirmed: Type.Optional(
      Type.Enum(['started', 'approved'], {
        description:
          'What its files say and this machine has no record of: that the operator `started` it, or `approved` its plan. Nothing of it runs. `started` is confirmed by POST /trust, `approved` by approving the plan again',
      }),
    ),
    elsewhere: Type.Optional(
      Type.Boolean({
        description:
          'True for one that has not ended and was started on another machine: its files came through git, and only that machine goes on with it',
      }),
    ),
  },
  { $id: 'Session' },
);
export type Session = Static<typeof Session>;
