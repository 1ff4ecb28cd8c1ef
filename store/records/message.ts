import { type Static, Type } from 'typebox';
import { Id, Sha256, Time } from './id.ts';
import { maybe, orNull } from './or-null.ts';

const known = {
  id: Id,
  at: Time,
  mode: Type.Enum(['plan', 'work'], { description: 'The mode of the session at that time' }),
  sha256: Sha256,
};

/** A message of the operator to a session, as session.md keeps it. */
export const MessageMatter = Type.Object({
  ...known,
  /** Beside session.md: the text. */
  file: Type.String({ pattern: '^message(-\\d{1,4})?\\.md$' }),
  /** When its agent was first heard after it was sent to it. */
  delivered_at: maybe(Time),
});
export type MessageMatter = Static<typeof MessageMatter>;

/** The same as it is served. */
export const SessionMessage = Type.Object(
  {
    ...known,
    session_id: Id,
    text: Type.String(),
    delivered_at: orNull(
      Time,
      'When the agent was first heard after it had the message; null while the message waits, and where the session ended before',
    ),
  },
  { $id: 'SessionMessage', description: 'What the operator says to a session' },
);
export type SessionMessage = Static<typeof SessionMessage>;
