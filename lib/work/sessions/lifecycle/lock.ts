import { newId } from '../../../../store/base/new-id.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import type { Lock } from '../../../../store/records/lock.ts';
import { isEnded } from '../../../../store/records/session.ts';
import {
  acquireLock,
  listHeldLocks,
  readLock,
  releaseLock,
} from '../../../../store/sessions/locks.ts';
import { sessionStatus } from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import { orNotFound, ServiceError } from '../../../errors.ts';
import { awaitDecisions } from '../guards/decide.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { startQueued } from './launch.ts';

/** The holder of a Work item's session lock, read from lock.md. */
export const lockOf = (store: Store, caseId: string): Lock =>
  orNotFound(readLock(store, caseId), 'Work item', caseId);

/**
 * Takes the session lock for the operator: until it is released, also across restarts, no session of the Work item
 * starts. The token is returned only here; it authorizes writes that the lock guards.
 */
export const takeLock = async (
  store: Store,
  caseId: string,
  name?: string,
): Promise<Lock & { token: string }> => {
  lockOf(store, caseId);
  // A repeated call has the same token, whose lock is held already but was never returned.
  const token = newId();
  if (listHeldLocks(store, caseId)[0]?.matter.token_sha256 === sha256(token))
    return { ...lockOf(store, caseId), token };
  const taken = await acquireLock(store, caseId, {
    kind: 'operator',
    ...(name !== undefined && { name }),
    token_sha256: sha256(token),
    acquired_at: store.clock().toISOString(),
  });
  if (!taken) throw lockHeld(lockOf(store, caseId));
  return { ...lockOf(store, caseId), token };
};

const lockHeld = ({ holder, acquired_at }: Lock): ServiceError => {
  const who =
    holder?.kind === 'session' ? `Session ${holder.session_id}` : (holder?.name ?? 'An operator');
  return new ServiceError(
    'lock_held',
    `${who} has held the session lock since ${acquired_at}. Wait until it is released, or release it.`,
    { members: { holder } },
  );
};

/** Releases the session lock, unless a session that has not ended holds it. Queued sessions may start then. */
export const releaseSessionLock = async (service: SessionNeeds, caseId: string): Promise<void> => {
  const { store } = service;
  await awaitDecisions(service.store, caseId);
  const { locked, holder } = lockOf(store, caseId);
  if (!locked) throw notHeld(caseId);
  const released = await releaseLock(store, caseId, ({ kind, session_id, operation }) => {
    if (operation !== undefined) throw atWork(operation);
    if (kind === 'session' && isOpen(store, caseId, session_id)) throw abortInstead(session_id);
    return kind === holder?.kind && session_id === holder.session_id;
  });
  if (!released) throw notHeld(caseId);
  await startQueued(service);
};

const notHeld = (caseId: string): ServiceError =>
  new ServiceError(
    'not_found',
    `The session lock of Work item ${caseId} is not held, so there is nothing to release.`,
  );

const isOpen = (store: Store, caseId: string, id = ''): boolean => {
  const status = sessionStatus(store, caseId, id);
  return status !== undefined && !isEnded(status);
};

const atWork = (operation: string): ServiceError =>
  new ServiceError(
    'lock_held',
    `The daemon holds the lock for the ${operation}. Try again when that has ended.`,
  );

const abortInstead = (id = ''): ServiceError =>
  new ServiceError(
    'session_active',
    `Session ${id} holds the lock and has not ended. Abort it with POST /api/cases/…/session/abort, which releases the lock.`,
  );
