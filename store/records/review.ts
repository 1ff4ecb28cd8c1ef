import { type Static, Type } from 'typebox';
import { Id, maybe, orNull, Sha256, Time } from './fields.ts';

/** `review:<n>` and `check:<n>` with the host's numbers, or `thread:<id>` with the host's id. */
const REVIEW_ID =
  '^(?:review:[1-9][0-9]{0,18}|check:(?:status-)?[1-9][0-9]{0,18}|thread:[A-Za-z0-9_+/=:.-]{1,200})$';

/** The decision of a review; whether a thread is resolved; whether a check result is current. */
const REVIEW_STATES = [
  'approved',
  'changes_requested',
  'commented',
  'dismissed',
  'resolved',
  'unresolved',
  'failing',
  'superseded',
] as const;

const HostTime = Type.String({ format: 'date-time' });

/** One comment; the text is in the body of the record. */
const CommentMatter = Type.Object({
  author: maybe(Type.String()),
  url: maybe(Type.String()),
  created_at: maybe(HostTime),
  /** Whether the operator wrote it. */
  own: Type.Optional(Type.Boolean()),
});

const Step = Type.Object({ number: Type.Integer(), name: Type.String() });

/** The failed step of a check, and why its log is missing. */
const CheckMatter = Type.Object({
  name: Type.String(),
  conclusion: Type.String(),
  step: maybe(Step),
  log_missing: maybe(Type.String()),
});

/**
 * The front matter of pr/reviews/<id>.md: a review, a thread or a check that fails. The body has the texts, each between
 * fences; for a check, its summary and the end of its log.
 */
export const ReviewMatter = Type.Object({
  id: Type.String({ pattern: REVIEW_ID }),
  /** The number of the pull request. */
  pull: Type.Integer({ minimum: 1 }),
  state: Type.Enum([...REVIEW_STATES]),
  author: maybe(Type.String()),
  url: maybe(Type.String()),
  submitted_at: maybe(HostTime),
  commit: maybe(Type.String()),
  path: maybe(Type.String()),
  line: maybe(Type.Integer()),
  start_line: maybe(Type.Integer()),
  outdated: Type.Optional(Type.Boolean()),
  comments: Type.Optional(Type.Array(CommentMatter)),
  check: maybe(CheckMatter),
  /** The number of comments beyond the limit. */
  left_out: Type.Optional(Type.Integer()),
  /** False if it no longer exists on the host; for a check, if it was run again or the head changed. */
  on_host: Type.Optional(Type.Boolean()),
  // Set by the operator:
  queued_at: maybe(Time),
  /** The last feedback session that received it. */
  session_id: maybe(Id),
  /** The hash of the texts that this session was told. */
  told_sha256: maybe(Sha256),
  /** The same of those that others wrote. */
  told_others_sha256: maybe(Sha256),
  resolved_at: maybe(Time),
});
export type ReviewMatter = Static<typeof ReviewMatter>;

const ReviewComment = Type.Object({
  author: orNull(Type.String()),
  body: Type.String({ description: 'Markdown' }),
  url: orNull(Type.String()),
  created_at: orNull(HostTime),
});

const FailedCheck = Type.Object({
  name: Type.String(),
  conclusion: Type.String({
    description: 'The conclusion on the host, such as `failure` or `timed_out`',
  }),
  step: orNull(Step, 'The first failed step; null if there is none or it could not be read'),
  log: orNull(
    Type.String(),
    'The end of the log of the step: at most 200 lines and 16384 characters, without times and colours, with hidden characters made visible',
  ),
  log_missing: orNull(Type.String(), 'Why `log` is null; also null if there is no log'),
});

/** A review, a thread of comments on a line, or a failing check, as the API returns it. */
export const Review = Type.Object(
  {
    id: Type.String({ description: '`review:<number>`, `thread:<id>` or `check:<number>`' }),
    case_id: Id,
    kind: Type.Enum(['review', 'thread', 'check']),
    pull: Type.Integer({ description: 'The number of the pull request' }),
    state: Type.Enum([...REVIEW_STATES], {
      description:
        'For a thread `resolved` or `unresolved`; for a check `failing`, or `superseded` after another run or a new head; for a review one of the others',
    }),
    blocking: Type.Boolean({
      description:
        "Whether it is an open thread, a failing check, or its author's latest decision and requests changes",
    }),
    author: orNull(Type.String(), 'The author; for a check, the app that runs it'),
    body: Type.String({
      description: 'Markdown: for a thread its first comment, for a check its summary',
    }),
    comments: Type.Array(ReviewComment, {
      description: 'For a thread, all comments, oldest first',
    }),
    left_out: Type.Integer({ description: 'The number of comments beyond the limit' }),
    check: orNull(FailedCheck, 'For a check only'),
    path: orNull(Type.String()),
    line: orNull(Type.Integer(), 'Null if it is about the whole file, or the line is gone'),
    start_line: orNull(Type.Integer()),
    outdated: Type.Boolean(),
    url: orNull(Type.String()),
    commit: orNull(Type.String()),
    submitted_at: orNull(HostTime),
    on_host: Type.Boolean({ description: 'False if it no longer exists on the host' }),
    feedback: Type.Union([Type.Null(), Type.Enum(['queued', 'in_session', 'addressed'])], {
      description:
        '`queued`: for the next feedback session. `in_session`: one has it. `addressed`: the session `session_id` has completed with its newest comment, apart from your own replies after it',
    }),
    queued_at: orNull(Time),
    session_id: orNull(Id),
    resolved_at: orNull(
      Time,
      'When it was marked as resolved here; threads are resolved on the host',
    ),
    fetched_at: orNull(Time, 'When it was last read from the host'),
  },
  { $id: 'Review' },
);
export type Review = Static<typeof Review>;
