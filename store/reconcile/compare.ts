import { isDeepStrictEqual } from 'node:util';
import { visible } from '../base/visible.ts';
import type { ToldState } from '../journal/journal-state.ts';
import type { StateName } from '../records/case.ts';
import type { EventBody } from '../records/event.ts';
import { publicState } from './item.ts';

/**
 * The events between the journaled state of a Work item and its state now; undefined stands for a Work item that is not
 * there. All events about files come from here, whether the API, an editor or git made the change.
 */
export const eventsBetween = (
  caseId: string,
  before: ToldState | undefined,
  now: ToldState | undefined,
  at: Date,
): EventBody[] => {
  const timestamp = at.toISOString();
  return between(caseId, before, now && comparableWith(before, now)).map(
    (event) => ({ event_type: event.event_type, timestamp, payload: event.payload }) as EventBody,
  );
};

// The first journal format knew no checklists, or only those that are not empty: then checklists are not compared.
const comparableWith = (before: ToldState | undefined, now: ToldState): ToldState => {
  if (before === undefined || before.form !== undefined || before.checklist !== undefined)
    return now;
  const { checklist: _, ...compared } = now;
  return compared;
};

type NewEvent = Pick<EventBody, 'event_type' | 'payload'>;

const between = (
  id: string,
  before: ToldState | undefined,
  now: ToldState | undefined,
): NewEvent[] => {
  if (before === undefined)
    return now === undefined ? [] : [{ event_type: 'case_created', payload: named(id, now) }];
  if (now === undefined) return [{ event_type: 'case_deleted', payload: named(id, before) }];
  return [
    ...caseEvents(id, before, now),
    ...proofEvents(id, before, now),
    ...deletedProofs(id, before, now),
    ...checklistEvents(id, before, now),
  ];
};

const named = (case_id: string, { case: { matter } }: ToldState) => ({
  case_id,
  title: visible(matter.title),
});

const caseEvents = (case_id: string, before: ToldState, now: ToldState): NewEvent[] => {
  const events: NewEvent[] = [];
  if (!isDeepStrictEqual(fieldsOf(before), fieldsOf(now)))
    events.push({ event_type: 'case_updated', payload: { case_id } });
  const [old_state, new_state] = [eventState(before), eventState(now)];
  if (old_state !== new_state) {
    events.push({ event_type: 'case_state_changed', payload: { case_id, old_state, new_state } });
  }
  return events;
};

const fieldsOf = ({ case: { matter, description } }: ToldState) => [
  matter.title,
  matter.type,
  matter.project,
  matter.merged,
  description,
];

// Event payloads use the older name of the state INVESTIGATING.
const eventState = ({ case: { matter } }: ToldState): StateName => {
  const state = publicState(matter.state);
  return state === 'INVESTIGATING' ? 'PLANNING' : state;
};

const proofEvents = (case_id: string, before: ToldState, now: ToldState): NewEvent[] =>
  Object.entries(now.proofs).flatMap(([proof_id, { matter, content }]): NewEvent[] => {
    const known = before.proofs[proof_id];
    const proof = { case_id, proof_id, proof_type: matter.type };
    if (known === undefined)
      return [
        { event_type: 'proof_created', payload: proof },
        ...verifiedEvent(proof, matter.verified),
      ];
    const same =
      known.content === content &&
      known.matter.type === matter.type &&
      known.matter.verified === matter.verified;
    return same
      ? []
      : [{ event_type: 'proof_updated', payload: { ...proof, verified: matter.verified } }];
  });

const deletedProofs = (case_id: string, before: ToldState, now: ToldState): NewEvent[] =>
  Object.entries(before.proofs)
    .filter(([proof_id]) => now.proofs[proof_id] === undefined)
    .map(([proof_id, { matter }]) => ({
      event_type: 'proof_deleted',
      payload: { case_id, proof_id, proof_type: matter.type },
    }));

// A new proof that is already verified makes both events.
const verifiedEvent = (
  proof: { case_id: string; proof_id: string; proof_type: string },
  verified: boolean,
): NewEvent[] =>
  verified ? [{ event_type: 'proof_updated', payload: { ...proof, verified } }] : [];

const checklistEvents = (case_id: string, before: ToldState, now: ToldState): NewEvent[] =>
  isDeepStrictEqual(before.checklist ?? [], now.checklist ?? [])
    ? []
    : [{ event_type: 'checklist_updated', payload: { case_id } }];
