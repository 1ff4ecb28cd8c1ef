import { lockOn } from '../base/locks.ts';
import { milestoneEvents, runStateOf } from '../journal/milestones.ts';
import { doOrDefer } from '../reconcile/deferred.ts';
import type { Session } from '../records/session.ts';
import { remembered, type Store } from '../store.ts';

/** A session after a change of its status. */
interface Step {
  session: Session;
  at: Date;
}

/** Steps that are not journaled yet, oldest first, by session. */
const stepsOf = remembered(() => new Map<string, Step[]>());

/**
 * Journals the events of a session's steps. Called after all that follows from the record is done, so that after a crash a
 * session that is ahead of the journal has something left to do. If the journal cannot be written, the steps are journaled
 * at the next comparison or with the next step.
 */
export const journalSession = (store: Store, session: Session): Promise<void> => {
  const { id, case_id } = session;
  const steps = stepsOf(store).get(id) ?? [];
  stepsOf(store).set(id, [...steps, { session, at: store.clock() }]);
  return doOrDefer(store, `session ${id}`, {
    what: `journaling session ${id}`,
    work: () => journalSteps(store, case_id, id),
  });
};

const journalSteps = (store: Store, case_id: string, id: string): Promise<void> =>
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

/** Removes a session whose record is gone from the journal. */
export const removeRun = async (store: Store, id: string): Promise<void> => {
  stepsOf(store).delete(id);
  await store.journal.append({ run: { id, state: null } });
};
