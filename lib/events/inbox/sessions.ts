import { dirname } from 'node:path';
import { visible } from '../../../store/base/visible.ts';
import { caseStateOf } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import { trustOne } from '../../../store/records/attention.ts';
import type { Session } from '../../../store/records/session.ts';
import type { WaitingValue } from '../../../store/records/trust.ts';
import { readLock } from '../../../store/sessions/locks.ts';
import { hasRecord, type StoredSession, sessionsOf } from '../../../store/sessions/sessions.ts';
import { importedClaims, unconfirmedSession } from '../../../store/sessions/unconfirmed.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { ownError } from '../../text/wording.ts';
import { withLaterWords } from '../../work/sessions/lifecycle/read.ts';
import {
  type AgentRequest,
  requestId,
  requestText,
} from '../../work/sessions/live/agent-requests.ts';
import type { Engine, LiveRun, WithEngine } from '../../work/sessions/live/engine.ts';
import { maxSessionsOf, withQueueStatus } from '../../work/sessions/live/slots.ts';
import {
  blockedEntries,
  completedEntries,
  withFailures,
  withUncommitted,
} from './ended-sessions.ts';
import { type AboutCase, type AttentionEntry, post } from './entry.ts';

/** What the sessions of a Work item wait for. Reads nothing unless a session is open, or the state asks for the operator. */
export const sessionEntries = (
  service: WithEngine & WithStore,
  { id, state }: AboutCase,
): AttentionEntry[] => {
  const { store } = service;
  const planted = importedClaims(store, id).map(({ session, waiting }) =>
    claimEntry(session, waiting, { session_id: session.id, since: session.created_at }),
  );
  return [...planted, ...knownSessionEntries(service, { id, state })];
};

const knownSessionEntries = (
  service: WithEngine & WithStore,
  { id, state }: Pick<AboutCase, 'id' | 'state'>,
): AttentionEntry[] => {
  const { journal } = service.store;
  const isOpen = [...journal.runs.values()].some(({ case_id }) => case_id === id);
  if (!isOpen && state !== 'BLOCKED' && state !== 'VERIFYING') return [];
  const sessions = (sessionsOf(service.store, id) ?? [])
    .map(({ session }: StoredSession) => session)
    .filter(({ elsewhere }) => elsewhere !== true)
    // One that was given up before it began resolves nothing.
    .filter(({ status, started_at }) => status !== 'aborted' || started_at !== null);
  const asked = [...service.engine.live.values()]
    .filter(({ case_id, stopping }) => case_id === id && !stopping)
    .flatMap(requestEntries);
  const open = sessions.flatMap((session) => openSessionEntries(service, session));
  if (asked.length + open.length > 0) return [...asked, ...open];
  if (state === 'VERIFYING') return completedEntries(service.store, id, sessions);
  return state === 'BLOCKED' ? blockedEntries(sessions) : [];
};

const requestEntries = ({ case_id, session_id, asking }: LiveRun): AttentionEntry[] =>
  [...asking.values()].map((asked) => {
    const at = `/cases/${case_id}/sessions/${session_id}`;
    const given =
      asked.type === 'question_request'
        ? questionFields(asked.data, at)
        : permissionFields(asked.data, at);
    const id = `${given.kind}/${session_id}/${requestId(asked)}`;
    return { ...given, id, session_id, since: asked.since, message: requestText(asked) };
  });

type Given = Pick<AttentionEntry, 'kind' | 'answer' | 'options' | 'fields'>;
type AskedFor<T> = Extract<AgentRequest, { type: T }>['data'];

const permissionFields = (
  { request_id, options }: AskedFor<'permission_request'>,
  at: string,
): Given => {
  const chosen = options.find(({ kind }) => kind === 'allow_once') ?? options[0];
  return {
    kind: 'permission',
    answer: post(`${at}/permissions/${encodeURIComponent(request_id)}`, {
      option_id: chosen?.option_id,
    }),
    options: options.map(({ option_id, kind, name }) => ({
      option_id,
      kind,
      name: visible(name),
    })),
  };
};

// The suggested call declines, since only the operator knows the answer.
const questionFields = (
  { question_id, fields }: AskedFor<'question_request'>,
  at: string,
): Given => ({
  kind: 'question',
  fields,
  answer: post(`${at}/questions/${question_id}`, { action: 'decline' }),
});

const openSessionEntries = (
  service: WithEngine & WithStore,
  session: Session,
): AttentionEntry[] => {
  const { store } = service;
  const { id, case_id, status, error, pause_reason, resume_at, plan_sha256 } = session;
  const since = store.journal.runs.get(id)?.since ?? session.started_at ?? session.created_at;
  const found = { session_id: id, since };
  if (session.unconfirmed !== undefined) return unconfirmedEntries(store, session, found);
  if (status === 'plan_ready') {
    const answer = post(`/cases/${case_id}/sessions/${id}/approve`, { plan_sha256 });
    const message = planMessage(service, session);
    return [{ ...found, id: `plan/${id}/${plan_sha256}`, kind: 'plan', message, answer }];
  }
  if (status !== 'paused')
    return [...manualEntries(service.engine, session, since), ...queuedEntries(service, session)];
  const answer = post(`/api/cases/${case_id}/session/resume`, { session_id: id });
  const isOwn = pause_reason === 'operator' || (error === null && pause_reason === undefined);
  const why = isOwn
    ? PAUSED_BY_OPERATOR
    : (ownError(session) ?? `The session is paused: ${pause_reason}.`);
  const when = resume_at === undefined ? {} : { resume_at };
  const told = withFailures(session, withUncommitted(session, why));
  return [{ ...found, ...when, id: `paused/${id}/${since}`, kind: 'paused', ...told, answer }];
};

const planMessage = ({ engine }: WithEngine, session: Session): string => {
  const { provider, came_later } = withLaterWords(engine, session);
  const later = came_later === undefined ? '' : ` ${came_later}`;
  return `The plan of ${provider} waits for your approval.${later}`;
};

// For information: the entry says why the session does not run.
const queuedEntries = (service: WithEngine & WithStore, session: Session): AttentionEntry[] => {
  const { id, case_id, started_at, created_at } = session;
  const { waits_for } = withQueueStatus(service, session);
  const { live, unrecorded } = service.engine;
  const { waiting, asking } = live.get(id) ?? { waiting: unrecorded.get(id) };
  const told =
    waits_for === 'max_sessions'
      ? { since: started_at ?? created_at, message: placeMessage(service.store) }
      : (waiting ?? lockedOut(service.store, session));
  if (told === undefined || (asking !== undefined && asking.size > 0)) return [];
  const { since } = told;
  const answer = { method: 'GET' as const, path: `/cases/${case_id}/sessions/${id}` };
  const message = visible(told.message);
  return [
    { id: `waiting/${id}/${since}`, kind: 'waiting', session_id: id, since, message, answer },
  ];
};

// A session that is not here, as on another branch or in a stash, may come back, so its lock stays.
const lockedOut = (
  store: Store,
  { case_id, path, status, created_at }: Session,
): Pick<AttentionEntry, 'since' | 'message'> | undefined => {
  const item = itemOf(store, case_id);
  if (status !== 'queued' || item === undefined || caseStateOf(item) === 'BLOCKED')
    return undefined;
  const { holder } = readLock(store, case_id) ?? {};
  if (holder == null || holder.operation !== undefined) return undefined;
  const { session_id, name = 'an operator' } = holder;
  if (session_id !== undefined && hasRecord(store, case_id, session_id)) return undefined;
  const [who, way] =
    session_id === undefined
      ? [name, 'Release it on the page of the Work item']
      : [`session ${session_id}, which has no record here,`, 'Bring it back with git'];
  return {
    since: created_at,
    message: `The session is queued, and ${who} holds the session lock. ${way}, or delete ${dirname(path)}/lock.md.`,
  };
};

const placeMessage = (store: Store): string =>
  `The session is queued: max_sessions allows ${maxSessionsOf(store)} at a time.`;

const PAUSED_BY_OPERATOR = 'You paused the session. Resume or abort it.';

type Found = Pick<AttentionEntry, 'session_id' | 'since'>;

const unconfirmedEntries = (store: Store, session: Session, found: Found): AttentionEntry[] => {
  const waiting = unconfirmedSession(store, session);
  return waiting === undefined ? [] : [claimEntry(session, waiting, found)];
};

// The files claim a start or an approval: the session does not run until the operator confirms it on this machine.
const claimEntry = (session: Session, waiting: WaitingValue, found: Found): AttentionEntry => {
  const { id, case_id, unconfirmed, approved_sha256 } = session;
  const { key, hash, file } = waiting;
  const told =
    unconfirmed === 'approved'
      ? {
          message: 'Approved elsewhere, not on this machine. Approve again to run.',
          answer: post(`/cases/${case_id}/sessions/${id}/approve`, {
            plan_sha256: approved_sha256,
          }),
        }
      : {
          message: 'Started elsewhere, not on this machine. Confirm it to run.',
          answer: post('/trust', trustOne(key, hash)),
        };
  return { ...found, id: `trust/${key}/${hash.slice(0, 8)}`, kind: 'trust', file, ...told };
};

// A session of the manual provider: the operator writes its plan, or finishes its work.
const manualEntries = (engine: Engine, session: Session, since: string): AttentionEntry[] => {
  const { id, case_id, provider, status } = session;
  const call = provider === 'manual' ? CALLS[status] : undefined;
  const { run, worktree } = engine.live.get(id) ?? {};
  // A session can only be finished once it runs.
  if (call === undefined || run === undefined || worktree === undefined) return [];
  const { message, method, path } = call;
  return [
    {
      id: `manual/${id}/${status}`,
      kind: 'manual',
      session_id: id,
      since,
      message,
      answer: { method, path: `/cases/${case_id}/sessions/${id}/${path}` },
    },
  ];
};

interface Call extends Pick<AttentionEntry['answer'], 'method' | 'path'> {
  message: string;
}

const CALLS: Partial<Record<Session['status'], Call>> = {
  planning: {
    method: 'PUT',
    path: 'plan',
    message: 'The session waits for your plan.',
  },
  working: {
    method: 'POST',
    path: 'finish',
    message: 'The session waits until you finish the work of its plan.',
  },
};
