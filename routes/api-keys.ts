import { revokeKey } from '../lib/guard/api-keys/keys.ts';
import { route } from '../lib/http/route.ts';

export const apiKeyRoutes = [
  route('DELETE /api-keys/{id}', {
    summary: 'Revoke an API key immediately',
    description:
      'Event streams, downloads and WebSockets that were opened with the key end within a few seconds. Create and list keys in the console at /dashboard/keys, or with `dossier key`.',
    handler: ({ params }, { store }) => revokeKey(store, params.id),
  }),
];
