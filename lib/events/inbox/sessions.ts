import { visible } from '../../../store/base/visible.ts';
import { proofsOf } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import { trustOne } from '../../../store/records/attention.ts';
import { isEnded, type Session } from '../../../store/records/session.ts';
import type { WaitingValue } from '../../../store/records/trust.ts';
import { type StoredSession, sessionsOf } from '../../../store/sessions/sessions.ts';
import { plantedSessions, unconfirmedSession } from '../../../store/sessions/unconfirmed.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { CONFLICT } from '../../code/worktrees/rebase/under-way.ts';
import { FEEDBACK } from '../../host/reviews/feedback-session.ts';
import {
  type AgentRequest,
  requestId,
  requestWords,
} from '../../work/sessions/live/agent-requests.ts';
import type { Engine, LiveRun, WithEngine } from '../../work/sessions/live/engine.ts';
import { asQueued, maxSessionsOf } from '../../work/sessions/live/slots.ts';
import { type AboutCase, type AttentionEntry, post } from './entry.ts';

/** What sessions of a Work item wait for. Where none has begun, or has failed, nothing is read. */
export const ofSessions = (
  service: WithEngine & WithStore,
  { id, state }: AboutCase,
): AttentionEntry[] => {
  const { store } = service;
  const planted = plantedSessions(store, id).map(({ session, waiting }) =>
    ofClaim(session, waiting, { session_id: session.id, since: session.created_at }),
  );
  return [...planted, ...ofKnown(service, { id, state })];
};

const ofKnown = (
  service: WithEngine & WithStore,
  { id, state }: Pick<AboutCase, 'id' | 'state'>,
): AttentionEntry[] => {
  const { journal } = service.store;
  const isOpen = [...journal.runs.values()].some(({ case_id }) => case_id === id);
  if (!isOpen && state !== 'BLOCKED' && state !== 'VERIFYING') return [];
  const sessions = (sessionsOf(service.store, id) ?? [])
    .map(({ session }: StoredSession) => session)
    .filter(({ elsewhere }) => elsewhere !== true);
  const asked = [...service.engine.live.values()]
    .filter(({ case_id, stopping }) => case_id === id && !stopping)
    .flatMap(askedBy);
  const open = sessions.flatMap((session) => ofOpen(service, session));
  if (asked.length + open.length > 0) return [...asked, ...open];
  if (state === 'VERIFYING') return ofDone(service.store, id, sessions);
  return state === 'BLOCKED' ? ofBlocked(sessions) : [];
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
  if (status !== 'paused')
    return [...ofManual(service.engine, session, since), ...ofWaiting(service, session)];
  const answer = post(`/api/cases/${case_id}/session/resume`, { session_id: id });
  const isOwn = pause_reason === 'operator' || (error === null && pause_reason === undefined);
  const why = isOwn ? PAUSED_BY_OPERATOR : (error ?? `The session is paused: ${pause_reason}.`);
  const when = resume_at === undefined ? {} : { resume_at };
  const told = withFailures(session, why);
  return [{ ...found, ...when, id: `paused/${id}/${since}`, kind: 'paused', ...told, answer }];
};

// Nothing is to be answered: who reads it knows why nothing moves.
const ofWaiting = (service: WithEngine & WithStore, session: Session): AttentionEntry[] => {
  const { id, case_id, started_at, created_at } = session;
  const { waits_for } = asQueued(service, session);
  const { waiting, asking } = service.engine.live.get(id) ?? {};
  const told =
    waits_for === 'max_sessions'
      ? { since: started_at ?? created_at, message: placeMessage(service.store) }
      : waiting;
  if (told === undefined || (asking !== undefined && asking.size > 0)) return [];
  const { since } = told;
  const answer = { method: 'GET' as const, path: `/cases/${case_id}/sessions/${id}` };
  const message = visible(told.message);
  return [
    { id: `waiting/${id}/${since}`, kind: 'waiting', session_id: id, since, message, answer },
  ];
};

const placeMessage = (store: Store): string =>
  `The session waits for one of ${maxSessionsOf(store)} places (max_sessions).`;

const PAUSED_BY_OPERATOR = 'You paused the session. Resume or abort it.';

// Commands that failed come first: whoever reads on takes the rest for all there is.
const withFailures = (
  { commands }: Pick<Session, 'commands'>,
  message: string,
): Pick<AttentionEntry, 'message' | 'output'> => {
  const [first] = commands?.failed ?? [];
  if (commands == null || commands.message === null || first === undefined) return { message };
  // The sentence of a runbook that failed names its command already.
  const names = message.includes(`(${first.command})`);
  return {
    message: names ? message : `${commands.message}. ${message}`,
    ...(first.output !== '' && { output: first.output }),
  };
};

// A later session, or a proof that was verified since, is the operator's answer.
const ofDone = (store: Store, caseId: string, sessions: readonly Session[]): AttentionEntry[] => {
  const newest = sessions.at(-1);
  if (newest?.status !== 'completed' || newest.dismissed_at !== undefined) return [];
  const { id, ended_at, created_at } = newest;
  const since = ended_at ?? created_at;
  if (isVerifiedSince(store, caseId, since)) return [];
  return [
    {
      ...{ id: `done/${id}`, kind: 'done', session_id: id, since },
      ...withFailures(newest, doneMessage(newest)),
      answer: post(`/cases/${caseId}/sessions/${id}/dismiss`),
    },
  ];
};

const doneMessage = ({ commit }: Session): string =>
  commit?.message == null ? DONE : `${DONE} ${commit.message}.`;

const DONE = 'The work is completed. Review its diff, then verify a proof.';

const isVerifiedSince = (store: Store, caseId: string, since: string): boolean => {
  const item = itemOf(store, caseId);
  const proofs = item === undefined ? [] : proofsOf(item);
  return proofs.some(
    ({ file: { matter } }) => matter.verified && (matter.verified_at ?? '') >= since,
  );
};

type Found = Pick<AttentionEntry, 'session_id' | 'since'>;

const ofUnconfirmed = (store: Store, session: Session, found: Found): AttentionEntry[] => {
  const waiting = unconfirmedSession(store, session);
  return waiting === undefined ? [] : [ofClaim(session, waiting, found)];
};

// Its files say that it was started, or approved: nothing of it runs before that is confirmed here.
const ofClaim = (session: Session, waiting: WaitingValue, found: Found): AttentionEntry => {
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
    ...withFailures(session, error ?? 'The session has failed.'),
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
