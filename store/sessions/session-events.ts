import { lockOn } from '../base/locks.ts';
import { milestoneEvents, runStateOf } from '../journal/milestones.ts';
import { orLate } from '../reconcile/deferred.ts';
import type { Session } from '../records/session.ts';
import { remembered, type Store } from '../store.ts';

/** A session as it was after a step of its way. */
interface Step {
  session: Session;
  at: Date;
}

/** The steps that the journal has not heard of yet, oldest first, by session. */
const stepsOf = remembered(() => new Map<string, Step[]>());

/**
 * Tells the events of the way a session went since the journal last heard of it. Called last, when all that follows
 * from the record is done: a session the journal is behind on has something left to do after a crash. Where the journal
 * cannot be written, all steps of the way are told at the next comparison, or with the next step.
 */
export const tellSession = (store: Store, session: Session): Promise<void> => {
  const { id, case_id } = session;
  const steps = stepsOf(store).get(id) ?? [];
  stepsOf(store).set(id, [...steps, { session, at: store.clock() }]);
  return orLate(store, `session ${id}`, {
    what: `telling of session ${id}`,
    work: () => tellSteps(store, case_id, id),
  });
};

const tellSteps = (store: Store, case_id: string, id: string): Promise<void> =>
  store.locks.take(lockOn.item(case_id), async () => {
    const steps = stepsOf(store).get(id) ?? [];
    const last = steps.at(-1);
    const before = store.journal.runs.get(id)?.status;
    if (last !== undefined && (steps.length > 1 || before !== last.session.status)) {
      const state = runStateOf(last.session, last.at);
      await store.journal.append({ run: { id, state }, events: eventsOf(before, steps) });
    }
    const others = (stepsOf(store).get(id) ?? []).slice(steps.length);
    if (others.length > 0) stepsOf(store).set(id, others);
    else stepsOf(store).delete(id);
  });

const eventsOf = (told: string | undefined, steps: readonly Step[]) => {
  let before = told;
  return steps.flatMap(({ session, at }) => {
    const from = before;
    before = session.status;
    return from === before ? [] : milestoneEvents(from, session, at);
  });
};

/** The journal's memory of a session whose record is gone. */
export const forgetRun = async (store: Store, id: string): Promise<void> => {
  stepsOf(store).delete(id);
  await store.journal.append({ run: { id, state: null } });
};
