import { byAge, isEnded, type Session } from '../../../../store/records/session.ts';
import { readSession } from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { decided } from '../guards/decide.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { withWaiting } from './read.ts';

/** The sessions of all Work items that wait for their turn, in the order in which they were made. */
export const queuedSessions = async (service: EngineNeeds): Promise<Session[]> =>
  (await openSessions(service)).filter(({ status }) => status === 'queued');

/** The sessions that have begun and not ended: they hold their Work item's lock, whether an agent runs or waits. */
export const activeSessions = async (service: EngineNeeds): Promise<Session[]> =>
  (await openSessions(service))
    .filter(({ status }) => status !== 'queued')
    .map((session) => withWaiting(service.engine, session));

// The journal knows the open ones by id: what has ended costs nothing here, however much of it there is.
const openSessions = async ({ store }: WithStore): Promise<Session[]> => {
  const { journal } = store;
  const cases = new Set([...journal.runs.values()].map(({ case_id }) => case_id));
  await Promise.all([...cases].map((caseId) => decided(store, caseId)));
  return [...journal.runs]
    .flatMap(([id, { case_id }]) => readable(store, case_id, id) ?? [])
    .filter(({ status }) => !isEnded(status))
    .toSorted(byAge);
};

// One whose record cannot be read is told by the diagnostics; it keeps nobody from the others.
const readable = (store: Store, caseId: string, id: string): Session | undefined => {
  try {
    return readSession(store, caseId, id)?.session;
  } catch {
    return undefined;
  }
};
