import { notice } from '../../../../store/reconcile/items.ts';
import { waitingMessages } from '../../../../store/sessions/messages.ts';
import { readSession, updateSession } from '../../../../store/sessions/sessions.ts';
import type { WithLog } from '../../../log.ts';
import type { LiveRun } from '../live/engine.ts';
import { noMessages, takeWaiting } from '../live/messages.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { markDelivered } from '../rules/messages.ts';

/** A run begins: what no agent has read waits for it. */
export const readMessages = ({ store }: EngineNeeds, live: LiveRun): void => {
  const kept = readSession(store, live.case_id, live.session_id);
  const waiting = kept === undefined ? [] : waitingMessages(store, kept);
  live.messages = { ...noMessages(), waiting };
};

/** The messages for the prompt that is sent now: the one before it was answered. */
export const takeMessages = (service: EngineNeeds & WithLog, live: LiveRun): string[] => {
  noteDelivered(service, live);
  return takeWaiting(live.messages);
};

/** Its agent was heard after what was sent to it: the run waits until that is kept. */
export const noteDelivered = (service: EngineNeeds & WithLog, live: LiveRun): void => {
  const { session_id, messages } = live;
  const ids = messages.sent;
  if (ids.length === 0) return;
  messages.sent = [];
  const kept = keepDelivered(service, live, ids).catch((error: unknown) =>
    service.log.error({ err: error, session_id }, 'A delivered message is sent again: not kept'),
  );
  live.followed = live.followed.then(() => kept);
};

// The record first: nothing is told twice to a conversation that had it.
const keepDelivered = async (
  { store, engine }: EngineNeeds,
  { case_id, session_id }: LiveRun,
  ids: readonly string[],
): Promise<void> => {
  const rule = markDelivered(ids, store.clock().toISOString());
  const kept = await updateSession(store, case_id, session_id, rule);
  if (kept === undefined) return;
  const transcript = engine.transcript(kept);
  for (const message_id of ids) transcript.append('operator_message_delivered', { message_id });
  notice(store, case_id);
};
