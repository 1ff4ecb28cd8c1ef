import { type Static, Type } from 'typebox';
import { Id, maybe, orNull, Sha256, Time } from './fields.ts';

const known = {
  id: Id,
  at: Time,
  mode: Type.Enum(['plan', 'work'], { description: 'The mode of the session at that time' }),
  sha256: Sha256,
  from: Type.Optional(
    Type.Enum(['attach'], {
      description:
        "`attach`: said in the agent's own terminal interface, as the agent's transcript reports it. It is a record only: no later prompt repeats it",
    }),
  ),
};

/** A message of the operator to a session, as in session.md. */
export const MessageMatter = Type.Object({
  ...known,
  /** The file with the text, beside session.md. */
  file: Type.String({ pattern: '^message(-\\d{1,4})?\\.md$' }),
  /** When the agent first reported anything after the message was sent. */
  delivered_at: maybe(Time),
});
export type MessageMatter = Static<typeof MessageMatter>;

/** A message as the API returns it. */
export const SessionMessage = Type.Object(
  {
    ...known,
    session_id: Id,
    text: Type.String(),
    delivered_at: orNull(
      Time,
      'When the agent first reported anything after it received the message; null while the message is queued, or if the session ended before',
    ),
  },
  { $id: 'SessionMessage', description: 'A message of the operator to a session' },
);
export type SessionMessage = Static<typeof SessionMessage>;
