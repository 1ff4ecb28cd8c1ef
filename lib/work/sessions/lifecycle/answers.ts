import { StoreError } from '../../../../store/base/errors.ts';
import { notice } from '../../../../store/reconcile/items.ts';
import type { QuestionAnswer } from '../../../../store/records/question.ts';
import type { Session } from '../../../../store/records/session.ts';
import { type SessionRule, updateSession } from '../../../../store/sessions/sessions.ts';
import { invalidState, notFound, orNotFound, ServiceError } from '../../../errors.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { hasEvent } from '../live/stream.ts';
import { nextStatus } from '../rules/transitions.ts';
import { getStoredSession, withWaitReason } from './read.ts';

/** Completes manual work. */
export const finishSession = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<Session> => {
  const { session } = await getStoredSession(service, caseId, id);
  const live = service.engine.live.get(id);
  if (live?.run?.finish() !== true) throw notFinished(session);
  await live.finished;
  const { session: finished } = await getStoredSession(service, caseId, id).catch(unread);
  return finished;
};

// The run has ended, whether its record can be read or not.
const unread = (error: unknown): never => {
  if (error instanceof ServiceError) throw error;
  const message = 'The work was ended, but the record of its session could not be read';
  throw new StoreError('may_be_written', message);
};

const notFinished = ({ status, provider }: Session): ServiceError =>
  invalidState(
    provider === 'manual' && status === 'working'
      ? 'The worktree of the session is not ready yet. Try again in a few seconds.'
      : `The session is ${status} with the provider ${provider}. Only running manual work can be finished.`,
  );

/** Answers a permission request of the agent. */
export const answerPermission = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  answer: { request_id: string; option_id: string; prefix?: string },
): Promise<Session> => {
  const { session } = await getStoredSession(service, caseId, id);
  const { request_id, option_id, prefix } = answer;
  if (service.engine.live.get(id)?.run?.answer(request_id, option_id, prefix) === true)
    return session;
  throw notFound('open permission request', request_id);
};

/** Answers a question of the agent; the first answer counts. It approves no plan and allows nothing. */
export const answerQuestion = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  { question_id, ...answer }: QuestionAnswer & { question_id: string },
): Promise<Session> => {
  const kept = await getStoredSession(service, caseId, id);
  if (service.engine.live.get(id)?.run?.reply?.(question_id, answer) === true)
    return withWaitReason(service, kept.session);
  const transcript = service.engine.transcript(kept);
  if (!(await hasEvent(transcript, ({ data }) => data.question_id === question_id)))
    throw notFound('question', question_id);
  throw new ServiceError(
    'question_closed',
    'The question was answered already, or its turn has ended. Read the outcome in the stream of the session.',
  );
};

/**
 * Removes completed work from the operator's inbox. Idempotent; throws 422 `invalid_state` for a session that is not
 * completed.
 */
export const dismissSession = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<Session> => {
  await getStoredSession(service, caseId, id);
  const at = service.store.clock().toISOString();
  const kept = orNotFound(
    await updateSession(service.store, caseId, id, dismiss(at)),
    'session',
    id,
  );
  notice(service.store, caseId);
  return kept.session;
};

export const dismiss =
  (at: string): SessionRule =>
  (session) => {
    const { status, dismissed_at } = session;
    if (nextStatus(session, 'dismiss') === undefined)
      throw invalidState(
        `The session is ${status}; only completed work can be dismissed. ${NEXT[status] ?? 'Wait for its end, or abort it.'}`,
      );
    return dismissed_at === undefined ? { dismissed_at: at } : undefined;
  };

const NEXT: Partial<Record<Session['status'], string>> = {
  failed: 'Create another session, or set the state of the Work item.',
  aborted: 'It is not in the inbox.',
  paused: 'Resume or abort it.',
  plan_ready: 'Approve its plan, send it back, or abort it.',
};
