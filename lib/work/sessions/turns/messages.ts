import { lockOn } from '../../../../store/base/locks.ts';
import { notice } from '../../../../store/reconcile/items.ts';
import { deliveredMessages, waitingMessages } from '../../../../store/sessions/messages.ts';
import {
  readSession,
  type StoredSession,
  updateSession,
} from '../../../../store/sessions/sessions.ts';
import type { PromptParts, RunResult } from '../../../agents/provider.ts';
import type { WithLog } from '../../../log.ts';
import { lastWithin } from '../../../text/wording.ts';
import { type LiveRun, mustStop } from '../live/engine.ts';
import { noMessages, takeWaiting } from '../live/messages.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { markDelivered } from '../rules/messages.ts';
import { recordRun } from '../rules/rules.ts';

/** Loads the unread messages when a run begins. */
export const loadMessages = ({ store }: EngineNeeds, live: LiveRun): void => {
  const kept = readSession(store, live.case_id, live.session_id);
  const waiting = kept === undefined ? [] : waitingMessages(store, kept);
  live.messages = { ...noMessages(), waiting };
};

/** The messages for the prompt that is sent now; the previous prompt was answered. */
export const takeMessages = (service: EngineNeeds & WithLog, live: LiveRun): string[] => {
  noteDelivered(service, live);
  return takeWaiting(live.messages);
};

/** Marks the sent messages as delivered, because the agent reacted after them. The run waits until that is written. */
export const noteDelivered = (service: EngineNeeds & WithLog, live: LiveRun): void => {
  const { session_id, messages } = live;
  const ids = messages.sent;
  if (ids.length === 0) return;
  messages.sent = [];
  const kept = keepDelivered(service, live, ids).catch((error: unknown) =>
    service.log.error(
      { err: error, session_id },
      'recording a delivery failed; the message is sent again',
    ),
  );
  live.followed = live.followed.then(() => kept);
};

// The record is written first, so that no conversation receives a message twice.
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

/**
 * Whether another run has to follow because a message is unread. If not, and the turn has completed, the session takes
 * no more messages before it has ended or its plan is written.
 */
export const needsAnotherRun = (
  { store, engine }: EngineNeeds,
  { session: { case_id, id } }: StoredSession,
  { outcome }: RunResult,
): Promise<boolean> =>
  // Under the decision lock no message can be added in between.
  store.locks.take(lockOn.decision(case_id), async () => {
    const live = engine.live.get(id);
    if (live === undefined || mustStop(engine, live) || outcome === 'failed') return false;
    const kept = readSession(store, case_id, id);
    const waits = kept !== undefined && waitingMessages(store, kept).length > 0;
    if (!waits && outcome === 'completed') live.messages.closed = true;
    return waits;
  });

/** In characters; of more the newest are sent. */
const MOST_SAID = 100_000;

/** The delivered messages of this mode, for a conversation that does not have them. */
export const deliveredTexts = (
  { store }: EngineNeeds,
  kept: StoredSession,
): Pick<PromptParts, 'messages_before'> => {
  const texts = deliveredMessages(store, kept).map(({ text }) => text);
  return { messages_before: lastWithin(texts, MOST_SAID, (text) => text) };
};

/** Records a finished run of a turn that continues with another run, and returns the session after it. */
export const recordFinishedRun = async (
  { store, engine }: EngineNeeds,
  kept: StoredSession,
  result: RunResult,
): Promise<StoredSession> => {
  const { case_id, id } = kept.session;
  const now = (await updateSession(store, case_id, id, recordRun(result))) ?? kept;
  const live = engine.live.get(id);
  if (live !== undefined) live.result = undefined;
  // The usage up to this status event is counted; later events belong to the next run.
  noteStatus(engine, now);
  return now;
};
