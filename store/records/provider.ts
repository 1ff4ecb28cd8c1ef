import { type Static, Type } from 'typebox';
import { Usage } from './session.ts';
import { Reached } from './worktree.ts';

export const Option = Type.Object({ value: Type.String(), name: Type.String() });
export type Option = Static<typeof Option>;

/** Left out where only the program knows, once it is started. */
export const Offers = Type.Object(
  { models: Type.Optional(Type.Array(Option)), efforts: Type.Optional(Type.Array(Option)) },
  {
    description:
      'What a session may choose, as its sessions told it within the last hour; empty where there is nothing to choose, left out where nobody knows. The efforts are those of its own model',
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
          'Of agents: whether there is a login or a key, by the files and variables that are known of it. Nobody is asked whether it is good still',
      }),
    ),
    offers: Type.Optional(Offers),
    isolation: Type.Enum(['enforced', 'checked', 'untried', 'operator'], {
      description:
        'How Plan mode is held read-only: by the operating system, by comparison afterwards, by a sandbox that nobody has tried and by comparison, or by the operator',
    }),
  },
  { $id: 'Provider' },
);
export type ProviderInfo = Static<typeof ProviderInfo>;

/** What a provider made of a prompt that belongs to no Work item; the output is empty where it failed. */
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
