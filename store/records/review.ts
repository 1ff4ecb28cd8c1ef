import { type Static, Type } from 'typebox';
import { Id, Time } from './id.ts';
import { maybe, orNull } from './or-null.ts';

/** `review:<n>` as the host counts reviews, `check:<n>` as it counts runs of checks, or `thread:<the host's own id>`. */
export const REVIEW_ID =
  '^(?:review:[1-9][0-9]{0,18}|check:(?:status-)?[1-9][0-9]{0,18}|thread:[A-Za-z0-9_+/=:.-]{1,200})$';

/** Of a review what its author decided; of a thread whether it is settled; of a check whether that is how it is now. */
export const REVIEW_STATES = [
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

/** One comment; its text is in the body of the record. */
const CommentMatter = Type.Object({
  author: maybe(Type.String()),
  url: maybe(Type.String()),
  created_at: maybe(HostTime),
});

const Step = Type.Object({ number: Type.Integer(), name: Type.String() });

/** What failed, where, and why its log is not there. */
const CheckMatter = Type.Object({
  name: Type.String(),
  conclusion: Type.String(),
  step: maybe(Step),
  log_missing: maybe(Type.String()),
});

/**
 * The front matter of pr/reviews/<id>.md: a review, a thread or a check that fails. The body has the texts, each between
 * fences; of a check what is said of it, and the end of its log.
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
  /** Comments that are too many to be kept here. */
  left_out: Type.Optional(Type.Integer()),
  /** False: the host had it, and has not any more; of a check, that it was run again or another commit is looked at. */
  on_host: Type.Optional(Type.Boolean()),
  // The operator's own from here on.
  queued_at: maybe(Time),
  /** The feedback session that it was given to last. */
  session_id: maybe(Id),
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
  conclusion: Type.String({ description: "The host's word, such as `failure` or `timed_out`" }),
  step: orNull(Step, 'The first that failed; null: it has none, or nobody could ask'),
  log: orNull(
    Type.String(),
    'What the step said last: 200 lines and 16384 characters at most, without times and colours, hidden characters made visible',
  ),
  log_missing: orNull(Type.String(), 'Why `log` is null; null, too, where there is none to read'),
});

/** A review, a thread of comments on a line, or a check that fails, as it is served. */
export const Review = Type.Object(
  {
    id: Type.String({ description: '`review:<number>`, `thread:<id>` or `check:<number>`' }),
    case_id: Id,
    kind: Type.Enum(['review', 'thread', 'check']),
    pull: Type.Integer({ description: 'The number of the pull request' }),
    state: Type.Enum([...REVIEW_STATES], {
      description:
        'Of a thread `resolved` or `unresolved`; of a check `failing`, or `superseded` once it was run again or the pull request has another head; of a review one of the others',
    }),
    blocking: Type.Boolean({
      description:
        'A thread that is open, a check that fails, or the latest decision of its author when that asks for changes',
    }),
    author: orNull(Type.String(), 'Of a check, who checks'),
    body: Type.String({
      description: 'Markdown: of a thread its first comment, of a check what is said of it',
    }),
    comments: Type.Array(ReviewComment, { description: 'Of a thread all, oldest first' }),
    left_out: Type.Integer({ description: 'Comments that are too many to be kept here' }),
    check: orNull(FailedCheck, 'Of a check alone'),
    path: orNull(Type.String()),
    line: orNull(Type.Integer(), 'null: it is about the whole file, or the line is gone'),
    start_line: orNull(Type.Integer()),
    outdated: Type.Boolean(),
    url: orNull(Type.String()),
    commit: orNull(Type.String()),
    submitted_at: orNull(HostTime),
    on_host: Type.Boolean({ description: 'false: the host had it, and has not any more' }),
    feedback: Type.Union([Type.Null(), Type.Enum(['queued', 'in_session', 'addressed'])], {
      description:
        '`queued`: for the next feedback session. `in_session`: one has it. `addressed`: the session `session_id` has completed with it',
    }),
    queued_at: orNull(Time),
    session_id: orNull(Id),
    resolved_at: orNull(
      Time,
      'When it was marked here as resolved; a thread is resolved on the host',
    ),
    fetched_at: orNull(Time, 'When the host was last asked'),
  },
  { $id: 'Review' },
);
export type Review = Static<typeof Review>;
