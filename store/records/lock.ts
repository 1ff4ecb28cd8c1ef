import { type Static, Type } from 'typebox';
import { Id, Sha256, Time } from './fields.ts';

const holder = {
  kind: Type.Enum(['session', 'operator']),
  session_id: Type.Optional(Id),
  name: Type.Optional(Type.String()),
  operation: Type.Optional(
    Type.String({
      description: 'The operation of the daemon that holds the lock until it is done',
    }),
  ),
};

/** The front matter of sessions/lock.md. */
export const LockMatter = Type.Object({
  ...holder,
  token_sha256: Type.Optional(Sha256),
  acquired_at: Time,
});
export type LockMatter = Static<typeof LockMatter>;

export const Lock = Type.Object(
  {
    case_id: Id,
    locked: Type.Boolean(),
    holder: Type.Union([Type.Null(), Type.Object(holder)]),
    acquired_at: Type.Union([Type.Null(), Time]),
  },
  { $id: 'SessionLock' },
);
export type Lock = Static<typeof Lock>;
