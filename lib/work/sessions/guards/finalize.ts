import { readCase } from '../../../../store/cases/cases.ts';
import type { Case, State } from '../../../../store/records/case.ts';
import { isEnded, type Session } from '../../../../store/records/session.ts';
import { revokeSession } from '../../../../store/sessions/consent.ts';
import { releaseLock } from '../../../../store/sessions/locks.ts';
import { tellSession } from '../../../../store/sessions/session-events.ts';
import { isUntold, type StoredSession } from '../../../../store/sessions/sessions.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';
import { forgetState } from '../../../sandbox/state/open.ts';
import { update } from '../../cases/change.ts';
import { isClosed, moveTo } from '../../cases/moves.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { endStream, noteApproved } from '../live/stream.ts';

/**
 * Does what follows from a session's record: the Work item's state, the lock, the end of its stream, the events, in this order. The record
 * decides and is written first; this can be repeated, and after a crash the start does repeat it.
 */
export const finalize = async (service: EngineNeeds, kept: StoredSession): Promise<void> => {
  const { store } = service;
  const { session, matter } = kept;
  if (session.elsewhere === true || !isUntold(store, session)) return;
  if ((await readCase(store, session.case_id)) !== undefined) {
    await update(store, session.case_id, (current) => {
      const state = caseStateFor(session, current, matter.case_state_before);
      return state === undefined ? undefined : moveTo(current, state);
    });
  }
  if (isApproved(session)) await noteApproved(service.engine, kept);
  if (isEnded(session.status)) {
    revokeSession(store, session.id);
    await releaseLock(store, session.case_id, ({ session_id }) => session_id === session.id);
    endStream(service.engine, kept);
    await forgetState(store.layout.states, session.id);
  }
  await tellSession(store, session);
};

// A session that plans was not approved, whatever else its record says.
const isApproved = ({ mode, status, unconfirmed }: Session): boolean =>
  mode === 'work' && status === 'working' && unconfirmed === undefined;

/** Where a Work item goes with its session; undefined: it stays. One that the operator has closed stays closed. */
export const caseStateFor = (
  { status, type }: Pick<Session, 'status' | 'type'>,
  { state }: Pick<Case, 'state'>,
  before: State = 'OPEN',
): State | undefined => {
  // While a rebase waits the Work item is BLOCKED, whatever an agent does about it.
  if (isClosed(state) || type === CONFLICT) return undefined;
  if (status === 'aborted') return before;
  return FOLLOWS[status];
};

const FOLLOWS: Partial<Record<Session['status'], State>> = {
  planning: 'INVESTIGATING',
  working: 'IMPLEMENTING',
  completed: 'VERIFYING',
  failed: 'BLOCKED',
};
