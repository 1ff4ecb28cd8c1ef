import { isEnded, type Session } from '../../../../store/records/session.ts';
import {
  readSession,
  type StoredSession,
  sessionsOf,
} from '../../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../../store/store.ts';
import { invalidState, orNotFound, ServiceError } from '../../../errors.ts';
import { getCase } from '../../cases/read.ts';
import { refuseElsewhere } from '../rules/rules.ts';
import { decided } from './decide.ts';

/**
 * The session that holds the lock, or the oldest that has not ended. 422 when there is none, or only one that another
 * machine runs; 409 when it is not the one that the caller means.
 */
export const activeSession = async (
  { store }: WithStore,
  caseId: string,
  meant?: string,
): Promise<StoredSession> => {
  await getCase(store, caseId);
  await decided(store, caseId);
  if (meant !== undefined) orNotFound(readSession(store, caseId, meant), 'session', meant);
  const open = (sessionsOf(store, caseId) ?? []).filter(({ session }) => !isEnded(session.status));
  const ours = open.filter(({ session }) => session.elsewhere !== true);
  const active = ours.find(({ session }) => session.status !== 'queued') ?? ours[0];
  if (active !== undefined && (meant ?? active.session.id) !== active.session.id)
    throw otherSession(active.session);
  if (active !== undefined) return active;
  for (const { session } of open) refuseElsewhere(session);
  throw invalidState('The Work item has no active session.');
};

const otherSession = ({ id, status }: Session): ServiceError =>
  new ServiceError(
    'other_session_active',
    `Another session of the Work item is active by now: ${id} (${status}). Nothing was done. Look at that one, and name it if it is meant.`,
    { members: { session_id: id } },
  );
