import { Type } from 'typebox';
import { tryPrompt } from '../lib/agents/try-prompt.ts';
import { route } from '../lib/http/route.ts';
import { textOf } from '../store/records/fields.ts';
import { ProviderInfo, Tried } from '../store/records/provider.ts';

export const providerRoutes = [
  route('GET /providers', {
    devOnly: true,
    summary: 'List the providers, and whether each is available',
    response: Type.Array(ProviderInfo),
    handler: (_input, { providers }) => providers().list(),
  }),
  route('POST /providers/{id}/run', {
    devOnly: true,
    summary: 'Send a prompt to a provider, in a temporary empty directory',
    description: 'Runs in Plan mode: the provider reads and answers, and changes nothing.',
    params: { id: Type.String({ minLength: 1 }) },
    body: Type.Object({ prompt: textOf('notBlank', { minLength: 1 }) }),
    response: Tried,
    errors: ['not_found', 'invalid_state', 'trust_needed', 'unavailable'],
    handler: ({ params, body }, service) => tryPrompt(service, params.id, body.prompt),
  }),
];
