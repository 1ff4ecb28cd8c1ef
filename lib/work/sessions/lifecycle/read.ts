import { orElse } from '../../../../store/base/attempt.ts';
import { visible } from '../../../../store/base/visible.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import type { TextFile } from '../../../../store/front-matter/text-file.ts';
import { notice } from '../../../../store/reconcile/items.ts';
import { isEnded, type Session, type Usage } from '../../../../store/records/session.ts';
import {
  editComments,
  readCommentsFile,
  tellComments,
} from '../../../../store/sessions/comments.ts';
import { readApproved, readSentBack } from '../../../../store/sessions/plan-versions.ts';
import {
  readDiff,
  readPlan,
  readSinceApproval,
  writePlan,
} from '../../../../store/sessions/session-texts.ts';
import {
  sessionsOf as keptSessions,
  newestSession,
  readSession,
  type StoredSession,
} from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { addUsage } from '../../../agents/usage.ts';
import { invalidState, notFound, orNotFound, type ServiceError } from '../../../errors.ts';
import { decided } from '../guards/decide.ts';
import { requestWords } from '../live/agent-requests.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { asQueued } from '../live/places.ts';

export const listSessions = async (service: EngineNeeds, caseId: string): Promise<Session[]> => {
  const { store } = service;
  await decided(service.store, caseId);
  const sessions = orNotFound(keptSessions(store, caseId), 'Work item', caseId);
  return sessions.map(({ session }) => withWaiting(service, session));
};

export const getSession = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<Session> => withWaiting(service, (await keptSession(service, caseId, id)).session);

/** With what its agent waits for, where it runs and has told, asks the operator, or is silent. */
export const withWaiting = (service: EngineNeeds, kept: Session): Session => {
  const { engine } = service;
  const session = asQueued(service, kept);
  const { waiting, asking, stopping } = engine.live.get(session.id) ?? {};
  const [asked] = stopping === true ? [] : (asking?.values() ?? []);
  if (asked !== undefined) {
    const { since } = asked;
    return { ...session, waiting: { for: 'operator', since, message: requestWords(asked) } };
  }
  if (waiting === undefined) return session;
  const { stderr, message, ...rest } = waiting;
  const words = stderr === undefined ? {} : { stderr: visible(stderr) };
  return { ...session, waiting: { ...rest, message: visible(message), ...words } };
};

/** The session with its directory; 404 when it, or its Work item, is not there. */
export const keptSession = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<StoredSession> => {
  const { store } = service;
  await decided(service.store, caseId);
  if ((await readCase(store, caseId)) === undefined) throw notFound('Work item', caseId);
  return orNotFound(readSession(store, caseId, id), 'session', id);
};

/** plan.md as it is now: proposed, edited, or approved; or the text that was approved, whatever became of plan.md. */
export const getPlan = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  which: keyof typeof PLANS = 'current',
): Promise<TextFile> => {
  const { dir, session } = await keptSession(service, caseId, id);
  if (which === 'approved' && session.approved_sha256 === null) throw notFound('approved plan', id);
  const plan = PLANS[which](service.store, dir);
  if (plan === undefined) throw notFound('plan of session', id);
  return plan;
};

const PLANS = { current: readPlan, approved: readApproved, sent_back: readSentBack };

/** What the operator says of the plan. */
export const getComments = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<TextFile> => {
  const { dir } = await keptSession(service, caseId, id);
  return readCommentsFile(service.store, dir);
};

/** Replaces comments.md, as an edit by hand would. */
export const putComments = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  comments: { content: string; ifMatch: string | undefined },
): Promise<TextFile> => {
  const { dir } = await keptSession(service, caseId, id);
  await editComments(service.store, dir, () => comments.content, comments.ifMatch);
  await tellComments(service.store, caseId);
  return readCommentsFile(service.store, dir);
};

/** Replaces plan.md, as an edit by hand would. What was approved cannot be changed any more. */
export const putPlan = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  plan: { content: string; ifMatch: string | undefined },
): Promise<TextFile> => {
  const { dir, session } = await keptSession(service, caseId, id);
  const byHand = session.status === 'planning' && session.provider === 'manual';
  if (!byHand && session.status !== 'plan_ready') throw noPlanNow(session);
  await writePlan(service.store, dir, plan.content, plan.ifMatch);
  notice(service.store, caseId);
  return getPlan(service, caseId, id);
};

const noPlanNow = ({ status, provider }: Session): ServiceError =>
  invalidState(
    status === 'planning'
      ? `${provider} is still planning, and its plan would replace this one. Wait for plan_ready, then write yours.`
      : `The session is ${status}: its plan is no longer written. Create a new session for another plan.`,
  );

/** What the session changed, as a patch, once Work mode has ended or is paused: since its base, or since its approval. */
export const getDiff = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  since: 'base' | 'approval' = 'base',
): Promise<Buffer> => {
  const { dir, session } = await keptSession(service, caseId, id);
  // One that was paused before has left a patch, which is behind what is there now.
  const patch = session.status === 'working' ? undefined : readDiff(service.store, dir);
  if (patch === undefined) throw notFound('diff of session', id);
  return since === 'base' ? patch : (readSinceApproval(service.store, dir) ?? patch);
};

/** The session's events: those so far, and as they come. */
export const getStream = async (service: EngineNeeds, caseId: string, id: string) => {
  const kept = await keptSession(service, caseId, id);
  const { engine } = service;
  const transcript = engine.transcript(kept);
  // Ended, whatever its events say: somebody may have cut the file, or ended the session by hand. Of one that another
  // machine runs there is what came through git.
  const { status, elsewhere } = kept.session;
  const isOver = isEnded(status) && !engine.live.has(id);
  if (isOver || (elsewhere === true && !engine.live.has(id))) engine.letGo(id);
  return {
    newest: () => transcript.last,
    isOver: (after: number) => isOver && after === transcript.last,
    open: (after: number, signal: AbortSignal) => transcript.follow(after, signal),
    soFar: (after: number) => transcript.soFar(after),
  };
};

/** What all sessions of a Work item used, as far as their agents told. Read from their records: nothing keeps a count. */
export const usageOf = async (
  service: EngineNeeds,
  caseId: string,
): Promise<Usage & { sessions: number }> => {
  const told = (await listSessions(service, caseId)).flatMap(({ usage }) => usage ?? []);
  const none: Usage = { input_tokens: null, output_tokens: null, cost_usd: null };
  return { sessions: told.length, ...told.reduce(addUsage, none) };
};

/** The sessions of all Work items that wait for their turn, in the order in which they were made. */
export const queuedSessions = async (service: EngineNeeds): Promise<Session[]> =>
  (await openSessions(service))
    .map((session) => withWaiting(service, session))
    .filter(({ status }) => status === 'queued');

/** The sessions that have begun and not ended: they hold their Work item's lock, whether an agent runs or waits. */
export const activeSessions = async (service: EngineNeeds): Promise<Session[]> =>
  (await openSessions(service))
    .map((session) => withWaiting(service, session))
    .filter(({ status }) => status !== 'queued');

/** The newest session of each of these Work items, where there is one. */
export const newestSessions = async (
  service: EngineNeeds,
  caseIds: readonly string[],
): Promise<Session[]> => {
  await Promise.all(caseIds.map((caseId) => decided(service.store, caseId)));
  return caseIds
    .flatMap((caseId) => newestSession(service.store, caseId) ?? [])
    .map(({ session }) => withWaiting(service, session));
};

// The journal knows the open ones by id: what has ended costs nothing here, however much of it there is.
const openSessions = async ({ store }: WithStore): Promise<Session[]> => {
  const { journal } = store;
  const cases = new Set([...journal.runs.values()].map(({ case_id }) => case_id));
  await Promise.all([...cases].map((caseId) => decided(store, caseId)));
  return [...journal.runs]
    .flatMap(([id, { case_id }]) => readable(store, case_id, id) ?? [])
    .filter(({ status }) => !isEnded(status))
    .toSorted(byArrival);
};

// Of those of one millisecond the journal knows the order.
const byArrival = (a: Session, b: Session): number =>
  Number(a.created_at > b.created_at) - Number(a.created_at < b.created_at);

// One whose record cannot be read is told by the diagnostics; it keeps nobody from the others.
const readable = (store: Store, caseId: string, id: string): Session | undefined =>
  orElse(() => readSession(store, caseId, id)?.session, undefined);
