import { revokeKey } from '../lib/guard/api-keys/keys.ts';
import { route } from '../lib/http/route.ts';

export const apiKeyRoutes = [
  route('DELETE /api-keys/{id}', {
    summary: 'Revoke an API key, at once',
    description: 'Keys are made and listed in the console, at /dashboard/keys.',
    handler: ({ params }, { store }) => revokeKey(store, params.id),
  }),
];
