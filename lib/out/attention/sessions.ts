import { visible } from '../../../base/visible.ts';
import { trustOne } from '../../../store/records/attention.ts';
import { isEnded, type Session } from '../../../store/records/session.ts';
import { type StoredSession, sessionsOf } from '../../../store/sessions/sessions.ts';
import { unconfirmedSession } from '../../../store/sessions/unconfirmed.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { CONFLICT } from '../../code/rebase/under-way.ts';
import { FEEDBACK } from '../../host/reviews/feedback-session.ts';
import {
  type AgentRequest,
  requestId,
  requestWords,
} from '../../work/sessions/live/agent-requests.ts';
import type { Engine, LiveRun, WithEngine } from '../../work/sessions/live/engine.ts';
import { type AboutCase, type AttentionEntry, post } from './entry.ts';

/** What sessions of a Work item wait for. Where none has begun, or has failed, nothing is read. */
export const ofSessions = (
  service: WithEngine & WithStore,
  { id, state }: AboutCase,
): AttentionEntry[] => {
  const { journal } = service.store;
  const isOpen = [...journal.runs.values()].some(({ case_id }) => case_id === id);
  if (!isOpen && state !== 'BLOCKED') return [];
  const sessions = (sessionsOf(service.store, id) ?? [])
    .map(({ session }: StoredSession) => session)
    .filter(({ elsewhere }) => elsewhere !== true);
  const asked = [...service.engine.live.values()]
    .filter(({ case_id, stopping }) => case_id === id && !stopping)
    .flatMap(askedBy);
  const open = sessions.flatMap((session) => ofOpen(service, session));
  if (state !== 'BLOCKED' || asked.length + open.length > 0) return [...asked, ...open];
  return ofBlocked(sessions);
};

const askedBy = ({ case_id, session_id, asking }: LiveRun): AttentionEntry[] =>
  [...asking.values()].map((asked) => {
    const at = `/cases/${case_id}/sessions/${session_id}`;
    const given =
      asked.type === 'question_request' ? ofQuestion(asked.data, at) : ofPermission(asked.data, at);
    const id = `${given.kind}/${session_id}/${requestId(asked)}`;
    return { ...given, id, session_id, since: asked.since, message: requestWords(asked) };
  });

type Given = Pick<AttentionEntry, 'kind' | 'answer' | 'options' | 'fields'>;
type AskedFor<T> = Extract<AgentRequest, { type: T }>['data'];

const ofPermission = (
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
      ...{ option_id, kind, name: visible(name) },
    })),
  };
};

// What the answer is, nobody knows but the operator: without one it is declined.
const ofQuestion = ({ question_id, fields }: AskedFor<'question_request'>, at: string): Given => ({
  ...{ kind: 'question', fields },
  answer: post(`${at}/questions/${question_id}`, { action: 'decline' }),
});

const ofOpen = (service: WithEngine & WithStore, session: Session): AttentionEntry[] => {
  const { store } = service;
  const { id, case_id, status, error, pause_reason, resume_at, plan_sha256 } = session;
  const since = store.journal.runs.get(id)?.since ?? session.started_at ?? session.created_at;
  const found = { session_id: id, since };
  if (session.unconfirmed !== undefined) return ofUnconfirmed(store, session, found);
  if (status === 'plan_ready') {
    const answer = post(`/cases/${case_id}/sessions/${id}/approve`, { plan_sha256 });
    const message = `The plan of ${session.provider} waits for your approval.`;
    return [{ ...found, id: `plan/${id}/${plan_sha256}`, kind: 'plan', message, answer }];
  }
  if (status !== 'paused') return ofManual(service.engine, session, since);
  // What the operator has paused waits for nobody.
  const isOwn = pause_reason === 'operator' || (error === null && pause_reason === undefined);
  if (isOwn) return [];
  const answer = post(`/api/cases/${case_id}/session/resume`, { session_id: id });
  const message = error ?? `The session is paused: ${pause_reason}`;
  const when = resume_at === undefined ? {} : { resume_at };
  return [{ ...found, ...when, id: `paused/${id}/${since}`, kind: 'paused', message, answer }];
};

// Its files say that it was started, or approved: nothing of it runs before that is confirmed here.
const ofUnconfirmed = (
  store: Store,
  session: Session,
  found: Pick<AttentionEntry, 'session_id' | 'since'>,
): AttentionEntry[] => {
  const waiting = unconfirmedSession(store, session);
  if (waiting === undefined) return [];
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
  return [{ ...found, id: `trust/${key}/${hash.slice(0, 8)}`, kind: 'trust', file, ...told }];
};

// One that the operator does by hand: its plan is to be written, or its work to be finished.
const ofManual = (engine: Engine, session: Session, since: string): AttentionEntry[] => {
  const { id, case_id, provider, status } = session;
  const call = provider === 'manual' ? CALLS[status] : undefined;
  const { run, worktree } = engine.live.get(id) ?? {};
  // It has begun: only then can it be finished.
  if (call === undefined || run === undefined || worktree === undefined) return [];
  const { message, method, path } = call;
  return [
    {
      ...{ id: `manual/${id}/${status}`, kind: 'manual', session_id: id, since, message },
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
    message: 'The session waits for the plan that you write.',
  },
  working: {
    ...{ method: 'POST', path: 'finish' },
    message: 'The session waits until you have carried its plan out.',
  },
};

// A conflict is told by itself. Another session, made since, is the operator's answer.
const ofBlocked = (sessions: readonly Session[]): AttentionEntry[] => {
  const newest = sessions.findLast(({ status }) => isEnded(status));
  const waits = sessions.find(({ status }) => status === 'queued');
  const isAnswered = sessions.some(
    ({ created_at }) => created_at > (newest?.ended_at ?? created_at),
  );
  if (newest?.status === 'failed' && newest.type !== CONFLICT && !isAnswered)
    return [failed(newest, waits !== undefined)];
  if (waits === undefined || sessions.some(({ type, status }) => isAtConflict(type, status)))
    return [];
  const { case_id, id: session_id, created_at: since } = waits;
  return [
    {
      ...{ id: `blocked/${session_id}`, kind: 'blocked', session_id, since },
      message: 'A session waits, and the Work item is BLOCKED.',
      answer: unblock(case_id),
    },
  ];
};

const isAtConflict = (type: string, status: Session['status']): boolean =>
  type === CONFLICT && !isEnded(status);

const failed = (session: Session, isWaitedFor: boolean): AttentionEntry => {
  const { id, case_id, type, provider, error, ended_at, created_at } = session;
  return {
    ...{ id: `failed/${id}`, kind: 'failed', session_id: id, since: ended_at ?? created_at },
    message: error ?? 'The session has failed.',
    answer: isWaitedFor ? unblock(case_id) : again(case_id, type, provider),
  };
};

const again = (case_id: string, type: string, provider: string): AttentionEntry['answer'] =>
  type === FEEDBACK
    ? post(`/api/cases/${case_id}/pr/address-feedback`, { provider })
    : post(`/cases/${case_id}/sessions`, { type, provider });

const unblock = (case_id: string): AttentionEntry['answer'] => ({
  ...{ method: 'PUT', path: `/cases/${case_id}/state`, body: { state: 'OPEN' } },
});
