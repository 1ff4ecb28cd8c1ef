import { type Static, Type } from 'typebox';
import { StateName } from './case.ts';
import { Id, Time, Word } from './id.ts';

const ofCase = { case_id: Id };
const ofNamed = { ...ofCase, title: Type.String() };
const ofSession = { ...ofCase, session_id: Id };
const ofProof = { ...ofCase, proof_id: Id, proof_type: Word };

/** The payload of each event type that the interface document names: those that `*` stands for. */
const STARRED = {
  session_started: Type.Object({ ...ofSession, provider: Type.String() }),
  session_completed: Type.Object(ofSession),
  proof_created: Type.Object(ofProof),
  proof_updated: Type.Object({ ...ofProof, verified: Type.Boolean() }),
  agent_completed: Type.Object({
    ...ofSession,
    mode: Type.Enum(['plan', 'work']),
    status: Type.String({ description: 'The status of the session after the run' }),
    provider: Type.String(),
  }),
  case_updated: Type.Object(ofCase),
  case_state_changed: Type.Object({ ...ofCase, old_state: StateName, new_state: StateName }),
};

/** The payload of each event type. A receiver of webhooks gets what is not starred where it asks for it by name. */
export const PAYLOADS = {
  ...STARRED,
  case_created: Type.Object(ofNamed),
  case_deleted: Type.Object(ofNamed),
};

export type EventType = keyof typeof PAYLOADS;
export const EVENT_TYPES = Object.keys(PAYLOADS) as EventType[];

/** Whether `*` stands for it, in the `events` of a webhook. */
export const isStarred = (type: EventType): boolean => Object.hasOwn(STARRED, type);

/** What is delivered: exactly these three fields. */
export const EventBody = Type.Object({
  event_type: Type.Enum(EVENT_TYPES),
  timestamp: Time,
  payload: Type.Object(ofCase, { additionalProperties: true }),
});

type Bodies = {
  [T in EventType]: { event_type: T; timestamp: string; payload: Static<(typeof PAYLOADS)[T]> };
};
export type EventBody = Bodies[EventType];

/** An event in the journal: `seq` orders all events of the workspace, `id` never changes. */
export interface EventRecord {
  seq: number;
  id: string;
  body: EventBody;
}
