import { sha256 } from '../base/sha256.ts';
import { visible } from '../base/visible.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { readText } from '../front-matter/text-file.ts';
import type { MessageMatter, SessionMessage } from '../records/message.ts';
import type { SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';
import { isMessageGranted } from './consent.ts';
import { keepSessionFile } from './session-texts.ts';
import { type StoredSession, whereIs } from './sessions.ts';

/** A message that an agent is to read. */
export interface MessageText {
  id: string;
  text: string;
}

/** Keeps the text of a message beside session.md, and answers the name of its file. */
export const keepMessageText = (store: Store, dir: string, text: string): Promise<string> =>
  keepSessionFile(store, dir, 'message.md', Buffer.from(text));

/**
 * The messages of a session's present mode that its agent has not read, in order. What files say in the operator's name and
 * this machine has no record of is none of them.
 */
export const waitingMessages = (store: Store, kept: StoredSession): MessageText[] =>
  grantedMessages(store, kept, ({ delivered_at }) => delivered_at == null);

/** Those that an agent has read. */
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
        sha256(text) === message.sha256 && isMessageGranted(store, kept.matter.id, message.sha256),
    );

// One that was removed by hand, or is no file, says nothing.
const textOf = (store: Store, kept: StoredSession, { file }: MessageMatter): string =>
  ifReadable(() => readText(store.layout, whereIs(store, kept), file)?.content, undefined) ?? '';

/** All that the operator said to a session, as it is served: with the comment that it was made with. */
export const messagesOf = (store: Store, kept: StoredSession): SessionMessage[] => {
  const { id: session_id, messages } = kept.matter;
  return [
    ...firstOf(kept.matter),
    ...(messages ?? []).map(({ file, delivered_at = null, ...message }) => ({
      ...{ ...message, session_id, delivered_at },
      text: visible(textOf(store, kept, { file, ...message })),
    })),
  ];
};

const firstOf = ({ id, created_at, started_at, comment }: SessionMatter): SessionMessage[] =>
  comment == null
    ? []
    : [
        {
          ...{ id, session_id: id, at: created_at, mode: 'plan', text: visible(comment) },
          ...{ sha256: sha256(comment), delivered_at: started_at ?? null },
        },
      ];
