import { Type } from 'typebox';
import { listProviders, tryPrompt } from '../lib/agents/try-prompt.ts';
import { route } from '../lib/http/route.ts';
import { Usage } from '../store/records/session.ts';
import { Reached } from '../store/records/worktree.ts';

const Offered = Type.Array(Type.Object({ value: Type.String(), name: Type.String() }));

const Provider = Type.Object(
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
    offers: Type.Optional(
      Type.Object(
        { models: Type.Optional(Offered), efforts: Type.Optional(Offered) },
        {
          description:
            'What a session may choose, as its sessions told it within the last hour; empty where there is nothing to choose, left out where nobody knows. The efforts are those of its own model',
        },
      ),
    ),
    isolation: Type.Enum(['enforced', 'checked', 'untried', 'operator'], {
      description:
        'How Plan mode is held read-only: by the operating system, by comparison afterwards, by a sandbox that nobody has tried and by comparison, or by the operator',
    }),
  },
  { $id: 'Provider' },
);

const Tried = Type.Object({
  provider: Type.String(),
  outcome: Type.Enum(['completed', 'cancelled', 'failed']),
  output: Type.String(),
  error: Type.Union([Type.Null(), Type.String()]),
  usage: Type.Union([Type.Null(), Usage]),
  network: Reached,
  duration_ms: Type.Integer(),
});

export const providerRoutes = [
  route('GET /providers', {
    devOnly: true,
    summary: 'List the providers, and whether each can be used',
    response: Type.Array(Provider),
    handler: (_input, { providers }) => listProviders(providers),
  }),
  route('POST /providers/{id}/run', {
    devOnly: true,
    summary: 'Have a provider answer a prompt, in an empty directory that is gone afterwards',
    description: 'In Plan mode: it reads and answers, and changes nothing.',
    params: { id: Type.String({ minLength: 1 }) },
    body: Type.Object({ prompt: Type.String({ minLength: 1, pattern: '\\S' }) }),
    response: Tried,
    errors: ['not_found', 'invalid_state', 'trust_needed', 'unavailable'],
    handler: ({ params, body }, service) => tryPrompt(service, params.id, body.prompt),
  }),
];
