import { orElse } from '../../../../store/base/attempt.ts';
import { type StoredSession, sessionStatus } from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import type { Engine, LiveRun } from './engine.ts';

/** Whether git or an editor changed the status in session.md while the session runs. */
export const isStatusChanged = (store: Store, live: LiveRun | undefined): boolean => {
  if (live === undefined || live.attached || live.stopping) return false;
  const { case_id, session_id: id, phase } = live;
  const status = orElse(() => sessionStatus(store, case_id, id), undefined);
  // A turn writes another status at its end, which is journaled under the same lock.
  const told = store.journal.runs.get(id)?.status;
  return status !== undefined && status !== RUNNING[phase] && told === RUNNING[phase];
};

const RUNNING = { plan: 'planning', work: 'working' } as const;

/** Says in the session's stream that its run is ended for that. */
export const noteChanged = (engine: Engine, kept: StoredSession | undefined): void => {
  if (kept !== undefined) engine.transcript(kept).append('error', { message: CHANGED });
};

export const CHANGED =
  'The status in session.md was changed while the session ran, for example by git reset, so its programs were ended. The work so far is in the worktree.';
