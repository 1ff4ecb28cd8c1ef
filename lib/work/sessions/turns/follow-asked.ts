import { visible } from '../../../../store/base/visible.ts';
import { type StoredSession, updateSession } from '../../../../store/sessions/sessions.ts';
import { rebaseUnderWay } from '../../../code/worktrees/rebase/rebase-state.ts';
import { update } from '../../cases/change.ts';
import { moveTo, unblock } from '../../cases/moves.ts';
import { isRequest, publishRequest, type RequestEvent, requestId } from '../live/agent-requests.ts';
import { questionsPart, readQuestionEvent } from '../live/dialogue.ts';
import type { LiveRun } from '../live/engine.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { yieldSlotLater } from '../live/slots.ts';

/**
 * A request of an agent blocks the Work item; once no request is open it returns to its state before. While a run is
 * being ended the state is left to the caller that ends it.
 */
export const followRequest = async (
  service: EngineNeeds,
  { live, kept }: { live: LiveRun; kept: StoredSession },
  event: RequestEvent,
): Promise<void> => {
  const { case_id, asking, stopping } = live;
  const id = requestId(event);
  const since = service.store.clock().toISOString();
  const noted = recordQuestion(service, { live, kept }, { event, at: since });
  if (isRequest(event)) {
    asking.set(id, { ...event, since });
    yieldSlotLater(service.engine, live, id);
    await publishRequest(service.store, live, event);
    await update(service.store, case_id, (current) => moveTo(current, 'BLOCKED'));
    return noted;
  }
  const wasAsked = asking.has(id);
  if (!stopping) asking.delete(id);
  if (wasAsked) await publishRequest(service.store, live, event);
  await noted;
  if (service.engine.closing || stopping || !wasAsked || asking.size > 0) return;
  live.aside = false;
  if (rebaseUnderWay(service.store, case_id) === undefined)
    await update(service.store, case_id, unblock);
};

// The open question is in session.md for readers of files. The summary at the end has all questions again.
const recordQuestion = async (
  { store, engine }: EngineNeeds,
  { live, kept }: { live: LiveRun; kept: StoredSession },
  { event, at }: { event: RequestEvent; at: string },
): Promise<void> => {
  if (!event.type.startsWith('question_')) return;
  readQuestionEvent(live.questions, event.type, { ...event.data, at });
  if (live.stopping || engine.closing) return;
  const { case_id, id } = kept.session;
  await updateSession(store, case_id, id, () => ({
    summary: visible(questionsPart(live.questions.values()).join('\n\n')),
  }));
};
