import { type Static, Type } from 'typebox';
import { StateName } from './case.ts';
import { Id, orNull, Sha256, Time, Word } from './fields.ts';
import { ProblemRecord } from './problem.ts';
import { AnswerAction, AnsweredBy } from './question.ts';

const ofCase = { case_id: Id };
const maybeOfCase = { case_id: Type.Optional(Id) };
const File = Type.String({ description: 'Relative to the workspace' });
const ofNamed = { ...ofCase, title: Type.String() };
const ofSession = { ...ofCase, session_id: Id };
const Mode = Type.Enum(['plan', 'work']);
const ofProof = { ...ofCase, proof_id: Id, proof_type: Word };

/** The payloads of the event types that `*` includes. */
const STARRED = {
  session_started: Type.Object({ ...ofSession, provider: Type.String() }),
  session_completed: Type.Object(ofSession),
  proof_created: Type.Object(ofProof),
  proof_updated: Type.Object({ ...ofProof, verified: Type.Boolean() }),
  agent_completed: Type.Object({
    ...ofSession,
    mode: Mode,
    status: Type.String({ description: 'The status of the session after the run' }),
    provider: Type.String(),
  }),
  case_updated: Type.Object(ofCase),
  case_state_changed: Type.Object({ ...ofCase, old_state: StateName, new_state: StateName }),
};

/** The payload of each event type. A webhook gets the other types only if its `events` name them. */
export const PAYLOADS = {
  ...STARRED,
  case_created: Type.Object(ofNamed),
  case_deleted: Type.Object(ofNamed),
  proof_deleted: Type.Object(ofProof),
  checklist_updated: Type.Object(ofCase),
  session_plan_ready: Type.Object({ ...ofSession, plan_sha256: orNull(Sha256) }),
  session_comments_changed: Type.Object(ofSession),
  session_paused: Type.Object({
    ...ofSession,
    mode: Mode,
    reason: orNull(Type.String(), 'Null if the operator paused it'),
    pause_reason: Type.Optional(
      Type.String({ description: 'A code for the reason, if there is one' }),
    ),
    resume_at: Type.Optional(Time),
  }),
  session_failed: Type.Object({ ...ofSession, mode: Mode, error: orNull(Type.String()) }),
  permission_requested: Type.Object({
    ...ofSession,
    request_id: Type.String(),
    title: Type.String(),
    kind: Type.String(),
    command: Type.Optional(
      Type.String({ description: 'The command; only the beginning of a long one' }),
    ),
    other_arguments: Type.Optional(
      Type.String({
        description:
          'The other arguments of the tool call as JSON; only the beginning of long ones',
      }),
    ),
  }),
  permission_answered: Type.Object({
    ...ofSession,
    request_id: Type.String(),
    option_id: orNull(Type.String(), 'Null if the request was withdrawn because its run ended'),
  }),
  question_requested: Type.Object({
    ...ofSession,
    question_id: Id,
    message: Type.String({ description: 'The question; only the beginning of a long one' }),
  }),
  question_answered: Type.Object({
    ...{ ...ofSession, question_id: Id },
    ...{ action: AnswerAction, by: AnsweredBy },
  }),
  problem_found: Type.Object({ ...maybeOfCase, ...ProblemRecord.properties }),
  problem_mended: Type.Object({ ...maybeOfCase, file: File, code: Type.String() }),
  trust_needed: Type.Object({
    ...{ ...maybeOfCase, file: File, message: Type.String() },
    ...{ line: Type.Optional(Type.Integer()), column: Type.Optional(Type.Integer()) },
  }),
  attention_changed: Type.Object({
    count: Type.Integer({ description: 'The number of inbox entries' }),
    etag: Type.String({ description: 'The ETag of `GET /attention`, without quotes' }),
  }),
};

export type EventType = keyof typeof PAYLOADS;
export const EVENT_TYPES = Object.keys(PAYLOADS) as EventType[];

/** Whether `*` in a webhook's `events` includes this type. */
export const isStarred = (type: EventType): boolean => Object.hasOwn(STARRED, type);

/** Whether a webhook with these `events` gets a type. Without any, it gets those of `*`. */
export const isSent = (
  events: readonly (EventType | '*')[] | undefined,
  type: EventType,
): boolean => {
  const named = events ?? ['*'];
  return named.includes(type) || (named.includes('*') && isStarred(type));
};

/** The body of a delivery: exactly these three fields. */
export const EventBody = Type.Object({
  event_type: Type.Enum(EVENT_TYPES),
  timestamp: Time,
  payload: Type.Object(maybeOfCase, { additionalProperties: true }),
});

type Bodies = {
  [T in EventType]: {
    event_type: T;
    timestamp: string;
    /** Not every event is about a Work item. */
    payload: Static<(typeof PAYLOADS)[T]> & { case_id?: string };
  };
};
export type EventBody = Bodies[EventType];

/** An event in the journal: `seq` orders all events of the workspace, `id` never changes. */
export interface EventRecord {
  seq: number;
  id: string;
  body: EventBody;
}
