import { isEnded } from '../../../../store/records/session.ts';
import { type HeldLock, heldLocks } from '../../../../store/sessions/locks.ts';
import {
  claimSession,
  readSession,
  type StoredSession,
  sessionsOf,
} from '../../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../../store/store.ts';
import type { WithLog } from '../../../log.ts';

/**
 * Knows this machine's sessions again where `.dossier/`, or its journal, was removed while no daemon ran. Git brings no
 * `sessions/lock.md`: a session that holds one here was begun here, and what waits behind it under the same name too.
 */
export const reclaimLocked = async (service: WithLog & WithStore): Promise<void> => {
  for (const lock of heldLocks(service.store)) {
    await takeUp(service, lock).catch((error: unknown) => {
      service.log.error(
        { err: error, case_id: lock.case_id },
        'The session that holds the lock could not be taken up again',
      );
    });
  }
};

const takeUp = async (
  { store, log }: WithLog & WithStore,
  { case_id, matter: { session_id } }: HeldLock,
): Promise<void> => {
  const { runs } = store.journal;
  if (session_id === undefined || runs.has(session_id)) return;
  const holder = readSession(store, case_id, session_id);
  if (holder === undefined || isEnded(holder.session.status)) return;
  log.warn({ case_id, session_id }, KNOWN_AGAIN);
  const isOurs = ({ session, matter }: StoredSession): boolean =>
    session.elsewhere !== true || matter.machine === holder.matter.machine;
  const open = (sessionsOf(store, case_id) ?? []).filter(
    (kept) => !isEnded(kept.session.status) && !runs.has(kept.session.id) && isOurs(kept),
  );
  // The holder last: whoever dies in between leaves by what to know the others.
  const others = open.filter(({ session }) => session.id !== session_id);
  for (const kept of [...others, holder]) await claimSession(store, kept);
};

const KNOWN_AGAIN =
  'A session is known by its lock alone: .dossier/ was removed, or its journal. It is taken up again';
