import { newId } from '../../../../store/base/new-id.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { visible } from '../../../../store/base/visible.ts';
import { notice } from '../../../../store/reconcile/items.ts';
import type { SessionMessage } from '../../../../store/records/message.ts';
import { isEnded, type Session } from '../../../../store/records/session.ts';
import { grantMessage } from '../../../../store/sessions/consent.ts';
import { keepMessageText, messagesOf } from '../../../../store/sessions/messages.ts';
import { keepSentBack } from '../../../../store/sessions/plan-versions.ts';
import { newRunMarker } from '../../../../store/sessions/run-marker.ts';
import { readSession, type StoredSession } from '../../../../store/sessions/sessions.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';
import { invalidState, orNotFound, ServiceError } from '../../../errors.ts';
import { saidBy } from '../../../guard/api-keys/keys.ts';
import { checkTexts } from '../../cases/text.ts';
import { checkPlanningGate } from '../../planning/gate.ts';
import { decideWith } from '../guards/decide.ts';
import { addWaiting } from '../live/messages.ts';
import type { EngineNeeds, SessionNeeds } from '../live/needs.ts';
import { checkPlan } from '../rules/approval.ts';
import { addMessage } from '../rules/messages.ts';
import { createSession } from './create.ts';
import { startPlanTurn, withSessionLock } from './launch.ts';
import { getStoredSession } from './read.ts';

interface MessageInput {
  text: string;
  /** Interrupts the agent. */
  now?: boolean;
  /** For a session that has ended: the message is the plan of the next session, and approved. */
  approve?: boolean;
}

type NewMessage = MessageInput & { id: string; key?: { name: string } | undefined };

/**
 * Stores a message of the operator for a session's agent. It answers no permission request and does not open Work mode.
 * For an ended session it creates another one, which plans with the message, or with `approve` works from it as its
 * plan. The message is on disk when this resolves.
 */
export const sayToSession = async (
  service: SessionNeeds,
  caseId: string,
  sid: string,
  words: MessageInput & { key?: { name: string } | undefined },
): Promise<SessionMessage> => {
  checkTexts({ text: words.text });
  const said = { ...words, id: newId() };
  for (;;) {
    const kept = await getStoredSession(service, caseId, sid);
    const live = service.engine.live.get(sid);
    const known = messageIn(service, kept, said.id);
    if (known !== undefined) return known;
    // The turn has ended and its result is being written.
    if (live?.messages.closed === true) await live.finished;
    else if (isEnded(kept.session.status)) return createFollowUp(service, kept.session, said);
    else if (await storeMessage(service, kept, said)) await deliverMessage(service, kept, said);
  }
};

/** All messages of the operator to a session. */
export const listMessages = async (
  service: EngineNeeds,
  caseId: string,
  sid: string,
): Promise<SessionMessage[]> =>
  messagesOf(service.store, await getStoredSession(service, caseId, sid));

const messageIn = (
  { store }: EngineNeeds,
  kept: StoredSession,
  id: string,
): SessionMessage | undefined => messagesOf(store, kept).find((message) => message.id === id);

// False where the session has ended, or is about to, since it was read.
const storeMessage = async (
  service: SessionNeeds,
  kept: StoredSession,
  said: NewMessage,
): Promise<boolean> => {
  const { session } = kept;
  refuseUnread(service, session, said);
  const work = () => recordMessage(service, session, said);
  // A plan that waits for approval is planned again, which needs the lock; a run that exists has it already.
  return session.status === 'plan_ready' ? withSessionLock(service, kept, work) : work();
};

const recordMessage = async (
  service: SessionNeeds,
  session: Session,
  { id: message_id, text }: NewMessage,
): Promise<boolean> => {
  const { store, engine } = service;
  const { id } = session;
  const at = store.clock().toISOString();
  let isKept = false;
  await decideWith(service, session, async (now) => {
    if (engine.live.get(id)?.messages.closed === true) return () => undefined;
    const hash = sha256(text);
    const marker = newRunMarker(store.layout, id);
    const ruleFor = (file: string) =>
      addMessage({ id: message_id, at, file, sha256: hash }, marker);
    const change = ruleFor('message.md')(now.session, now.matter);
    if (change === undefined) return () => undefined;
    if (change.status === 'planning') await keepSentBack(store, now.dir);
    const file = await keepMessageText(store, now.dir, text);
    grantMessage(store, id, { id: message_id, mode: now.session.mode, sha256: hash });
    isKept = true;
    return ruleFor(file);
  });
  return isKept;
};

const deliverMessage = async (
  { engine, store, ...service }: SessionNeeds,
  before: StoredSession,
  { id: message_id, text, now = false }: NewMessage,
): Promise<void> => {
  const { case_id, id } = before.session;
  const kept = orNotFound(readSession(store, case_id, id), 'session', id);
  const transcript = engine.transcript(kept);
  const told = { message_id, text, sha256: sha256(text), ...(now && { now }) };
  transcript.append('operator_message', told);
  transcript.sync();
  notice(store, case_id);
  const live = engine.live.get(id);
  if (live === undefined && kept.session.status === 'planning')
    return startPlanTurn({ engine, store, ...service }, kept);
  if (live === undefined) return;
  // A run that began meanwhile may have sent it with its prompt, which must not be cancelled for it.
  if (addWaiting(live.messages, { id: message_id, text })) live.interrupt?.(now);
};

// The runbook and manual providers read no messages.
const refuseUnread = (
  { providers }: SessionNeeds,
  { provider: name, mode, status }: Session,
  { approve = false }: NewMessage,
): void => {
  if (approve)
    throw invalidState(
      `The session is ${status}; \`approve\` is for a session that has ended. Send the message without it, or approve the plan with POST …/approve.`,
    );
  const provider = providers().get(name);
  const kind = provider?.boundary().kind;
  const isByHand = mode === 'plan' && provider?.isolation === 'operator';
  if ((kind === 'acp' || kind === 'command') && !isByHand) return;
  throw invalidState(
    kind === 'runbook'
      ? 'The runbook provider reads no messages. Wait for the session to end, or abort it.'
      : `The provider ${name} reads no messages: you do the work of this session yourself.`,
  );
};

const createFollowUp = async (
  service: SessionNeeds,
  { case_id, type, provider, model, effort }: Session,
  { id, text, approve = false, key }: NewMessage,
): Promise<SessionMessage> => {
  if (approve) checkMessageAsPlan(service, case_id, text);
  const isSpecial = type === CONFLICT || service.engine.words.has(type);
  await createSession(service, case_id, {
    id,
    type: isSpecial ? 'implementing' : type,
    provider,
    comment: text,
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    ...(approve && { approved_by: saidBy(key) }),
  });
  const made = orNotFound(readSession(service.store, case_id, id), 'session', id);
  return orNotFound(messageIn(service, made, id), 'message', id);
};

const checkMessageAsPlan = ({ store }: EngineNeeds, caseId: string, text: string): void => {
  checkPlan({ content: text, sha256: sha256(text) });
  if (visible(text) !== text)
    throw new ServiceError(
      'plan_hides_text',
      'The message contains invisible characters. Remove them, then send it again. Nothing was run.',
    );
  checkPlanningGate(store, caseId);
};
