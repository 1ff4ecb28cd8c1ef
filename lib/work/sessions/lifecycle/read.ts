import { orElse } from '../../../../store/base/attempt.ts';
import { visible } from '../../../../store/base/visible.ts';
import { isEnded, type Session, type Usage } from '../../../../store/records/session.ts';
import {
  sessionsOf as keptSessions,
  newestSession,
  readSession,
  type StoredSession,
} from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import { addUsage } from '../../../agents/usage.ts';
import { getItem } from '../../../code/projects/project.ts';
import { orNotFound } from '../../../errors.ts';
import { awaitDecisions } from '../guards/decide.ts';
import { requestText } from '../live/agent-requests.ts';
import type { Engine } from '../live/engine.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { withQueueStatus } from '../live/slots.ts';

export const listSessions = async (service: EngineNeeds, caseId: string): Promise<Session[]> => {
  const { store } = service;
  await awaitDecisions(store, caseId);
  const sessions = orNotFound(keptSessions(store, caseId), 'Work item', caseId);
  return sessions.map(({ session }) => withWaitReason(service, session));
};

export const getSession = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<Session> =>
  withWaitReason(service, (await getStoredSession(service, caseId, id)).session);

/**
 * Adds what the agent waits for, where it runs: the operator's answer, the model, or nothing known while it is silent.
 */
export const withWaitReason = (service: EngineNeeds, kept: Session): Session => {
  const { engine } = service;
  const session = withLaterWords(engine, withQueueStatus(service, kept));
  const { waiting, asking, stopping } = engine.live.get(session.id) ?? {};
  const [asked] = stopping === true ? [] : (asking?.values() ?? []);
  if (asked !== undefined) {
    const { since } = asked;
    return { ...session, waiting: { for: 'operator', since, message: requestText(asked) } };
  }
  if (waiting === undefined) return session;
  const { stderr, message, ...rest } = waiting;
  const words = stderr === undefined ? {} : { stderr: visible(stderr) };
  return { ...session, waiting: { ...rest, message: visible(message), ...words } };
};

/** Adds what others wrote after the plan was made, until its session has ended. */
export const withLaterWords = ({ words }: Engine, session: Session): Session => {
  const { type, status, mode, elsewhere } = session;
  if (!HAS_PLAN.has(status) || elsewhere === true) return session;
  // Resumed, it makes a plan of the new text.
  if (status === 'paused' && mode === 'plan') return session;
  const came_later = words.get(type)?.since(session);
  return came_later === undefined ? session : { ...session, came_later };
};

const HAS_PLAN: ReadonlySet<string> = new Set<Session['status']>([
  'plan_ready',
  'working',
  'paused',
]);

/** The stored session. Throws 404 when it or its Work item does not exist. */
export const getStoredSession = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<StoredSession> => {
  const { store } = service;
  await awaitDecisions(store, caseId);
  await getItem(store, caseId);
  return orNotFound(readSession(store, caseId, id), 'session', id);
};

/** The session's events: those so far, and new ones as they come. */
export const getStream = async (service: EngineNeeds, caseId: string, id: string) => {
  const kept = await getStoredSession(service, caseId, id);
  const { engine } = service;
  const transcript = engine.transcript(kept);
  // The record decides whether the session has ended, because its events may be cut off or it may be ended by hand. Of
  // a session of another machine there are only the events that came through git.
  const { status, elsewhere } = kept.session;
  const isOver = isEnded(status) && !engine.live.has(id);
  if (isOver || (elsewhere === true && !engine.live.has(id))) engine.release(id);
  return {
    newest: () => transcript.last,
    isOver: (after: number) => isOver && after === transcript.last,
    open: (after: number, signal: AbortSignal) => transcript.follow(after, signal),
    soFar: (after: number) => transcript.soFar(after),
  };
};

/** The usage of all sessions of a Work item, as far as their agents reported it. Summed from their records. */
export const usageOf = async (
  service: EngineNeeds,
  caseId: string,
): Promise<Usage & { sessions: number }> => {
  const told = (await listSessions(service, caseId)).flatMap(({ usage }) => usage ?? []);
  const none: Usage = { input_tokens: null, output_tokens: null, cost_usd: null };
  return { sessions: told.length, ...told.reduce(addUsage, none) };
};

/** The queued sessions of all Work items, in order of creation. */
export const queuedSessions = async (service: EngineNeeds): Promise<Session[]> =>
  (await openSessions(service)).filter(({ status }) => status === 'queued');

/** The sessions that have started and not ended. They hold their Work item's lock. */
export const activeSessions = async (service: EngineNeeds): Promise<Session[]> =>
  (await openSessions(service)).filter(({ status }) => status !== 'queued');

/** The newest session of each of these Work items that has one. */
export const newestSessions = async (
  service: EngineNeeds,
  caseIds: readonly string[],
): Promise<Session[]> => {
  await Promise.all(caseIds.map((caseId) => awaitDecisions(service.store, caseId)));
  // A disk fault at one does not hide the others; a request for that one reports it.
  return caseIds
    .flatMap((caseId) => orElse(() => newestSession(service.store, caseId), undefined) ?? [])
    .map(({ session }) => withWaitReason(service, session));
};

// The journal lists the open sessions, so ended ones cost nothing here.
const openSessions = async (service: EngineNeeds): Promise<Session[]> => {
  const { store } = service;
  const { journal } = store;
  const cases = new Set([...journal.runs.values()].map(({ case_id }) => case_id));
  await Promise.all([...cases].map((caseId) => awaitDecisions(store, caseId)));
  return [...journal.runs]
    .flatMap(([id, { case_id }]) => readable(store, case_id, id) ?? [])
    .filter(({ status }) => !isEnded(status))
    .toSorted(byArrival)
    .map((session) => withWaitReason(service, session));
};

// Within one millisecond the order of the journal stays.
const byArrival = (a: Session, b: Session): number =>
  Number(a.created_at > b.created_at) - Number(a.created_at < b.created_at);

// Diagnostics report a record that cannot be read; here it is left out.
const readable = (store: Store, caseId: string, id: string): Session | undefined =>
  orElse(() => readSession(store, caseId, id)?.session, undefined);
