import { relative, sep } from 'node:path';
import { isWaiting } from '../records/session.ts';
import { namedDirectoriesOf } from '../sessions/sessions.ts';
import { type Store, watchRequestsOf } from '../store.ts';

/**
 * Watches the directories of sessions that wait for the operator, who may edit plan, comments and record there. Of sessions at
 * work only the record is watched, since their agents write all the time.
 */
export const watchPlanEvents = (store: Store): void =>
  store.journal.onEvents((events) => {
    for (const { body } of events) if ('session_id' in body.payload) watchPlan(store, body.payload);
  });

/** Watches the sessions that have not ended. */
export const watchPlans = (store: Store): void => {
  for (const [session_id, { case_id }] of store.journal.runs)
    watchPlan(store, { case_id, session_id });
};

const watchPlan = (store: Store, { case_id, session_id: id }: SessionName): void => {
  const kind = kindOf(store.journal.runs.get(id)?.status);
  for (const path of namedDirectoriesOf(store, case_id, id))
    watchRequestsOf(store).watch(relative(store.layout.root, path).split(sep).join('/'), kind);
};

interface SessionName {
  case_id: string;
  session_id: string;
}

const kindOf = (status: string | undefined) => {
  if (status === undefined) return 'none';
  return isWaiting(status) ? 'folder' : 'record';
};
