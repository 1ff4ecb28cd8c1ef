import { lockOn } from '../../../../store/base/locks.ts';
import { deliveredMessages, waitingMessages } from '../../../../store/sessions/messages.ts';
import {
  readSession,
  type StoredSession,
  updateSession,
} from '../../../../store/sessions/sessions.ts';
import type { PromptParts, RunResult } from '../../../agents/provider.ts';
import { hasToStop } from '../live/engine.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { runOver } from '../rules/rules.ts';

/**
 * Whether another turn has to follow this one: the operator said something that no agent has read. Where none has to, and
 * the turn did what it was for, the session takes no more messages before it has ended, or its plan is there.
 */
export const hasToGoOn = (
  { store, engine }: EngineNeeds,
  { session: { case_id, id } }: StoredSession,
  { outcome }: RunResult,
): Promise<boolean> =>
  // No message comes between.
  store.locks.take(lockOn.decision(case_id), async () => {
    const live = engine.live.get(id);
    if (live === undefined || hasToStop(engine, live) || outcome === 'failed') return false;
    const kept = readSession(store, case_id, id);
    const waits = kept !== undefined && waitingMessages(store, kept).length > 0;
    if (!waits && outcome === 'completed') live.messages.closed = true;
    return waits;
  });

/** In characters: of more the newest. */
const MOST_SAID = 100_000;

/** What the operator said in this mode, and an agent has read, for a conversation that does not have it. */
export const saidBefore = (
  { store }: EngineNeeds,
  kept: StoredSession,
): Pick<PromptParts, 'messages_before'> => {
  const texts = deliveredMessages(store, kept).map(({ text }) => text);
  let length = 0;
  const first = texts.findLastIndex((text) => {
    length += text.length;
    return length > MOST_SAID;
  });
  return { messages_before: texts.slice(first + 1) };
};

/** Remembers a run of a turn that goes on with another one, and answers the session as it is then. */
export const keepRun = async (
  { store, engine }: EngineNeeds,
  kept: StoredSession,
  result: RunResult,
): Promise<StoredSession> => {
  const { case_id, id } = kept.session;
  const now = (await updateSession(store, case_id, id, runOver(result))) ?? kept;
  const live = engine.live.get(id);
  if (live !== undefined) live.result = undefined;
  // What it used is counted: what comes after the status is of the next run.
  noteStatus(engine, now);
  return now;
};
