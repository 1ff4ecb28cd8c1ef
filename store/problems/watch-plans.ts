import { relative, sep } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { readSession, sessionDirOf } from '../sessions/sessions.ts';
import { type Store, watchRequestsOf } from '../store.ts';

/**
 * Watches the directories of sessions that wait for the operator, who may edit plan, comments and record there. Sessions at
 * work are not watched, since their agents write all the time.
 */
export const watchPlanEvents = (store: Store): void =>
  store.journal.onEvents((events) => {
    for (const { body } of events)
      if ('session_id' in body.payload) watchPlan(store, body.payload.session_id);
  });

/** Watches the sessions that wait already. */
export const watchPlans = (store: Store): void => {
  for (const [id, { status }] of store.journal.runs) if (WAITS.has(status)) watchPlan(store, id);
};

const WAITS: ReadonlySet<string> = new Set(['plan_ready', 'paused']);

const watchPlan = (store: Store, id: string): void => {
  const run = store.journal.runs.get(id);
  if (run === undefined) return;
  // Unreadable sessions are reported elsewhere.
  const kept = orElse(() => readSession(store, run.case_id, id), undefined);
  if (kept === undefined) return;
  const dir = relative(store.layout.root, sessionDirOf(store, kept)).split(sep).join('/');
  watchRequestsOf(store).watch(dir, WAITS.has(run.status) ? 'folder' : 'none');
};
