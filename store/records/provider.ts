import { type Static, Type } from 'typebox';
import { Usage } from './session.ts';
import { Reached } from './worktree.ts';

export const Option = Type.Object({ value: Type.String(), name: Type.String() });
export type Option = Static<typeof Option>;

/** Absent if only the started program knows. */
export const Offers = Type.Object(
  { models: Type.Optional(Type.Array(Option)), efforts: Type.Optional(Type.Array(Option)) },
  {
    description:
      'The choices for a session, as reported by sessions within the last hour. Empty if there are none, absent if unknown. The efforts are those of the default model',
  },
);
export type Offers = Static<typeof Offers>;

export const ProviderInfo = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum(['acp', 'command', 'runbook', 'manual']),
    available: Type.Boolean(),
    reason: Type.Optional(Type.String({ description: 'Why not, and what to do about it' })),
    version: Type.Optional(Type.String()),
    login: Type.Optional(
      Type.Enum(['yes', 'no', 'unknown'], {
        description:
          'For agents: whether there is a login or a key, in known files and variables. Whether it is still valid is not checked',
      }),
    ),
    offers: Type.Optional(Offers),
    isolation: Type.Enum(['enforced', 'checked', 'untried', 'operator'], {
      description:
        'How Plan mode is kept read-only: by the operating system, by comparison afterwards, by an untested sandbox and comparison, or by the operator',
    }),
  },
  { $id: 'Provider' },
);
export type ProviderInfo = Static<typeof ProviderInfo>;

/** A provider's answer to a prompt without a Work item. The output is empty if it failed. */
export const Tried = Type.Object({
  provider: Type.String(),
  outcome: Type.Enum(['completed', 'cancelled', 'failed']),
  output: Type.String(),
  error: Type.Union([Type.Null(), Type.String()]),
  usage: Type.Union([Type.Null(), Usage]),
  network: Reached,
  duration_ms: Type.Integer(),
});
export type Tried = Static<typeof Tried>;
