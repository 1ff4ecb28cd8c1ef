import type { QuestionAnswer } from '../../../../store/records/question.ts';
import type { Session } from '../../../../store/records/session.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import { notFound, ServiceError } from '../../../errors.ts';
import type { Engine } from '../live/engine.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { keptSession, withWaiting } from './read.ts';

/**
 * Answers what the agent asks; of two answers the first holds. It is the operator's word to the agent and nothing more: no
 * plan is approved by it, and nothing allowed.
 */
export const answerQuestion = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  { question_id, ...answer }: QuestionAnswer & { question_id: string },
): Promise<Session> => {
  const kept = await keptSession(service, caseId, id);
  if (service.engine.live.get(id)?.run?.reply?.(question_id, answer) === true)
    return withWaiting(service.engine, kept.session);
  if (!(await wasAsked(service.engine, kept, question_id))) throw notFound('question', question_id);
  throw new ServiceError(
    'question_closed',
    'It was answered already, or is asked no more: its turn is over. The stream of the session has what became of it.',
  );
};

const wasAsked = async (
  engine: Engine,
  kept: StoredSession,
  question_id: string,
): Promise<boolean> => {
  for await (const events of engine.transcript(kept).soFar(0))
    if (events.some(({ data }) => data.question_id === question_id)) return true;
  return false;
};
