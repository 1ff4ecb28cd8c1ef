import { revokeKey } from '../lib/guard/api-keys/keys.ts';
import { noContent } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { CasePath } from './cases.ts';

export const apiKeyRoutes = [
  route({
    method: 'DELETE',
    path: '/api-keys/{id}',
    summary: 'Revoke an API key, at once',
    description: 'Keys are made and listed in the console, at /dashboard/keys.',
    params: CasePath,
    status: 204,
    errors: ['not_found'],
    handler: ({ params }, { store }) => revokeKey(store, params.id).then(noContent),
  }),
];
