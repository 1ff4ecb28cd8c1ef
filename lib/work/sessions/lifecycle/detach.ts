import { newId } from '../../../../store/base/new-id.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { notice } from '../../../../store/reconcile/items.ts';
import type { MessageMatter } from '../../../../store/records/message.ts';
import { keepMessageText } from '../../../../store/sessions/messages.ts';
import {
  readSession,
  type StoredSession,
  sessionDirOf,
} from '../../../../store/sessions/sessions.ts';
import type { RunResult } from '../../../agents/provider.ts';
import { decide } from '../guards/decide.ts';
import type { EngineNeeds, TurnNeeds } from '../live/needs.ts';
import { endAttach, openAttach } from '../rules/attach.ts';
import { MOST_MESSAGES } from '../rules/messages.ts';
import { wrapUp } from '../turns/wrap-up.ts';

interface Ended {
  kept: StoredSession;
  result: RunResult;
  /** False if the interface could not be started: then the record is as before. */
  isStarted: boolean;
}

/**
 * Records the end of a terminal interface: the time, the diff of the worktree, and what the operator said there. The session
 * stays paused, or its plan stays ready.
 */
export const recordDetached = async (
  service: TurnNeeds,
  { kept, result, isStarted }: Ended,
): Promise<void> => {
  const { store } = service;
  const { case_id, id } = kept.session;
  const current = readSession(store, case_id, id);
  if (current === undefined) return;
  const ended_at = isStarted ? store.clock().toISOString() : undefined;
  const said = await keepSaid(service, current, result.said ?? []);
  const rule = endAttach({ ended_at, messages: said.map(({ message }) => message) });
  const detached = (await decide(service, current.session, rule)) ?? current;
  if (!isStarted) return;
  noteDetached(service, detached, said);
  const { mode, status } = detached.session;
  if (mode === 'work' && status === 'paused') await refreshSummary(service, detached);
  notice(store, case_id);
};

interface Said {
  message: MessageMatter;
  text: string;
}

// The transcript of an agent is a file that the agent can write: it grants no consent, so no later prompt has these texts.
const keepSaid = async (
  { store }: EngineNeeds,
  kept: StoredSession,
  texts: readonly string[],
): Promise<Said[]> => {
  const room = Math.max(0, MOST_MESSAGES - (kept.matter.messages?.length ?? 0));
  const { mode } = kept.session;
  const said: Said[] = [];
  for (const text of texts.slice(0, room)) {
    const at = store.clock().toISOString();
    const file = await keepMessageText(store, sessionDirOf(store, kept), text);
    const known = { id: newId(), at, mode, sha256: sha256(text), file, delivered_at: at };
    said.push({ message: { ...known, from: 'attach' }, text });
  }
  return said;
};

const noteDetached = (
  { engine }: EngineNeeds,
  kept: StoredSession,
  said: readonly Said[],
): void => {
  const transcript = engine.transcript(kept);
  const { started_at } = kept.session.attached?.at(-1) ?? {};
  if (transcript.complete || started_at === undefined) return;
  for (const { message, text } of said)
    transcript.append('operator_message', {
      message_id: message.id,
      text,
      sha256: message.sha256,
      from: 'attach',
    });
  transcript.append('terminal_detached', { started_at });
  transcript.sync();
};

// What was changed at the terminal is in the worktree, as after a pause.
const refreshSummary = async (service: TurnNeeds, kept: StoredSession): Promise<void> => {
  const { error } = kept.session;
  const outcome = { status: 'paused', ...(error !== null && { error }) } as const;
  const { summary, commands } = await wrapUp(service, kept, outcome);
  await decide(service, kept.session, ({ status }) =>
    status === 'paused' ? { summary, ...(commands && { commands }) } : undefined,
  );
};

/** Records the end of a terminal interface that ended with its daemon. */
export const closeAttach = async (service: EngineNeeds, kept: StoredSession): Promise<void> => {
  if (openAttach(kept.matter) === undefined) return;
  const ended_at = service.store.clock().toISOString();
  const closed = await decide(service, kept.session, endAttach({ ended_at }));
  if (closed !== undefined) noteDetached(service, closed, []);
};
