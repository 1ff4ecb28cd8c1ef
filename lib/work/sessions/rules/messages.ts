import type { MessageMatter } from '../../../../store/records/message.ts';
import type { SessionMatter } from '../../../../store/records/session.ts';
import { charactersOver } from '../../../../store/sessions/session-file.ts';
import type { SessionRule } from '../../../../store/sessions/sessions.ts';
import { invalidState } from '../../../errors.ts';
import { refuseUnconfirmed } from './rules.ts';
import { nextStatus } from './transitions.ts';

/** Each takes a few lines of session.md, whose front matter is limited to 64 KiB. */
export const MOST_MESSAGES = 100;

/**
 * Adds a message of the operator. A plan that waits for approval is planned again. Undefined when the session has
 * ended, or has the message already.
 */
export const addMessage =
  (message: Omit<MessageMatter, 'mode' | 'delivered_at'>, run_marker: string): SessionRule =>
  (session, matter) => {
    const status = nextStatus(session, 'message');
    if (status === undefined) return undefined;
    refuseUnconfirmed(session);
    const before = matter.messages ?? [];
    if (before.some(({ id }) => id === message.id)) return undefined;
    if (before.length >= MOST_MESSAGES)
      throw invalidState(
        `The session has ${MOST_MESSAGES} messages, which is the maximum. Abort it and create a new session.`,
      );
    const messages = [...before, { ...message, mode: session.mode, delivered_at: null }];
    checkRoom({ ...matter, messages });
    return status === session.status ? { messages } : { messages, status, run_marker };
  };

const checkRoom = (matter: SessionMatter): void => {
  if (charactersOver(matter) === 0) return;
  throw invalidState(
    'session.md has no room for another message, because its comments are long. Abort the session and create a new one.',
  );
};

/** Marks messages as read by an agent. Undefined where all are marked already. */
export const markDelivered =
  (ids: readonly string[], at: string): SessionRule =>
  (_session, { messages }) => {
    const isNews = ({ id, delivered_at }: { id: string; delivered_at?: unknown }): boolean =>
      ids.includes(id) && delivered_at == null;
    if (messages == null || !messages.some(isNews)) return undefined;
    return {
      messages: messages.map((message) =>
        isNews(message) ? { ...message, delivered_at: at } : message,
      ),
    };
  };
