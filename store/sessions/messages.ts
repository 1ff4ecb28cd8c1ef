import { sha256 } from '../base/sha256.ts';
import { visible } from '../base/visible.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { readText } from '../front-matter/text-file.ts';
import type { MessageMatter, SessionMessage } from '../records/message.ts';
import type { SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';
import { isMessageGranted } from './consent.ts';
import { createSessionFile } from './session-texts.ts';
import { type StoredSession, sessionDirOf } from './sessions.ts';

/** A message from the operator to an agent. */
export interface MessageText {
  id: string;
  text: string;
}

/** Saves the text of a message beside session.md, and returns the name of its file. */
export const keepMessageText = (store: Store, dir: string, text: string): Promise<string> =>
  createSessionFile(store, dir, 'message.md', Buffer.from(text));

/**
 * The messages of a session's current mode that its agent has not read, in order. Messages without consent on this machine
 * are left out.
 */
export const waitingMessages = (store: Store, kept: StoredSession): MessageText[] =>
  grantedMessages(store, kept, ({ delivered_at }) => delivered_at == null);

/** The messages of the current mode that an agent has read. */
export const deliveredMessages = (store: Store, kept: StoredSession): MessageText[] =>
  grantedMessages(store, kept, ({ delivered_at }) => delivered_at != null);

const grantedMessages = (
  store: Store,
  kept: StoredSession,
  which: (message: MessageMatter) => boolean,
): MessageText[] =>
  (kept.matter.messages ?? [])
    .filter((message) => message.mode === kept.matter.mode && which(message))
    .map((message) => ({ ...message, text: textOf(store, kept, message) }))
    .filter(
      ({ text, ...message }) =>
        sha256(text) === message.sha256 && isMessageGranted(store, kept.matter.id, message),
    );

// A missing or unreadable file reads as empty.
const textOf = (store: Store, kept: StoredSession, { file }: MessageMatter): string =>
  ifReadable(() => readText(store.layout, sessionDirOf(store, kept), file)?.content, undefined) ??
  '';

/** All messages of the operator to a session, as the API returns them, beginning with the session's comment. */
export const messagesOf = (store: Store, kept: StoredSession): SessionMessage[] => {
  const { id: session_id, messages } = kept.matter;
  return [
    ...firstMessage(kept.matter),
    ...(messages ?? []).map(({ file, delivered_at = null, ...message }) => ({
      ...message,
      session_id,
      delivered_at,
      text: visible(textOf(store, kept, { file, ...message })),
    })),
  ];
};

const firstMessage = ({ id, created_at, started_at, comment }: SessionMatter): SessionMessage[] =>
  comment == null
    ? []
    : [
        {
          id,
          session_id: id,
          at: created_at,
          mode: 'plan',
          text: visible(comment),
          sha256: sha256(comment),
          delivered_at: started_at ?? null,
        },
      ];
