import { type Static, Type } from 'typebox';
import { Id, Time, textOf } from './fields.ts';

const Hash = textOf('sha256', { description: 'SHA-256 of the value' });

/** A value in a file that is ignored until the operator trusts it. */
export const WaitingValue = Type.Object(
  {
    key: Type.String({ description: 'Such as `sandbox`, `providers.claude`, `webhooks/<id>`' }),
    kind: Type.Enum(['setting', 'webhook', 'change', 'session', 'approval', 'key', 'worktree'], {
      description:
        '`setting`, `webhook`: a value in a file. `change`: a record changed while a program ran without a sandbox. `session`, `approval`: the start of a session, or the approval of its plan, is recorded only in its files (`all` confirms no approval). `key`, `worktree`: an API key, or the path of a worktree, was not created on this machine',
    }),
    file: Type.String({ description: 'Relative to the workspace' }),
    line: Type.Optional(Type.Integer()),
    case_id: Type.Optional(Id),
    title: Type.Optional(Type.String({ description: 'The title of the Work item' })),
    value: Type.Unknown({ description: 'The value in the file; null if it was removed' }),
    trusted_value: Type.Unknown({
      description: 'The value that applies until then; null if there is none',
    }),
    hash: Hash,
    since: Time,
  },
  { $id: 'WaitingValue' },
);
export type WaitingValue = Static<typeof WaitingValue>;

export const TrustWish = Type.Union([
  Type.Object({ all: Type.Literal(true) }, { additionalProperties: false }),
  Type.Object(
    {
      values: Type.Array(Type.Object({ key: Type.String(), hash: Hash }), {
        minItems: 1,
        maxItems: 1000,
        description: 'The reviewed keys, each with the hash of the reviewed value',
      }),
    },
    { additionalProperties: false },
  ),
]);
export type TrustWish = Static<typeof TrustWish>;

export const Trusted = Type.Object(
  {
    trusted: Type.Array(Type.String(), { description: 'The keys that are now trusted' }),
    waiting: Type.Array(WaitingValue),
  },
  { $id: 'Trusted' },
);
export type Trusted = Static<typeof Trusted>;

/** A value that the operator trusts on this machine. */
export const TrustedValue = Type.Object(
  {
    key: Type.String(),
    kind: Type.Enum(['setting', 'webhook', 'command'], {
      description: 'For a command: the prefix of commands that are always allowed in a project',
    }),
    value: Type.Unknown(),
    since: Type.Optional(Time),
  },
  { $id: 'TrustedValue' },
);
export type TrustedValue = Static<typeof TrustedValue>;
