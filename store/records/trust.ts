import { type Static, Type } from 'typebox';
import { Id, Time } from './id.ts';

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the value' });

/** What stands in a file and does not hold until the operator says so. */
export const WaitingValue = Type.Object(
  {
    key: Type.String({ description: 'Such as `sandbox`, `providers.claude`, `webhooks/<id>`' }),
    kind: Type.Enum(['setting', 'webhook', 'change', 'session', 'approval', 'key', 'worktree'], {
      description:
        'A setting; a receiver of events; a change of a record that was made while a program ran in no sandbox; a session that its files alone say was started, or whose plan they alone say was approved: `all` does not confirm an approval; an API key that was not made on this machine; the place of a worktree that was not made on it',
    }),
    file: Type.String({ description: 'Relative to the workspace' }),
    line: Type.Optional(Type.Integer()),
    case_id: Type.Optional(Id),
    title: Type.Optional(Type.String({ description: 'Of the Work item' })),
    value: Type.Unknown({ description: 'As it stands there; null: it was taken away' }),
    trusted_value: Type.Unknown({ description: 'What holds meanwhile; null: nothing' }),
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
        description: 'Those that were looked at, with the hash that each had then',
      }),
    },
    { additionalProperties: false },
  ),
]);
export type TrustWish = Static<typeof TrustWish>;

export const Trusted = Type.Object(
  {
    trusted: Type.Array(Type.String(), { description: 'The keys that hold from now on' }),
    waiting: Type.Array(WaitingValue),
  },
  { $id: 'Trusted' },
);
export type Trusted = Static<typeof Trusted>;

/** What the operator has trusted on this machine. */
export const TrustedValue = Type.Object(
  {
    key: Type.String(),
    kind: Type.Enum(['setting', 'webhook', 'command'], {
      description: 'Of a command: with what those begin that are always allowed in a project',
    }),
    value: Type.Unknown(),
    since: Type.Optional(Time),
  },
  { $id: 'TrustedValue' },
);
export type TrustedValue = Static<typeof TrustedValue>;
