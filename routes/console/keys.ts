import { createKey, listKeys, revokeKey } from '../../lib/guard/api-keys/keys.ts';
import type { ConsolePage } from '../../lib/http/console-page.ts';
import type { KeysShown } from './pages/keys.tsx';

/** Where the page is. */
const KEYS = '/dashboard/keys';

const show = async (shown: KeysShown, status?: number) =>
  (await import('./render.tsx')).showKeys(shown, status);

const refused: ConsolePage['refused'] = ({ status, message }, { form_key }, { store }) =>
  show({ keys: listKeys(store), form_key, error: message }, status);

/** API keys: listed, made, and revoked. No page runs scripts that shows one. */
export const keyPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: KEYS,
    handler: ({ form_key }, { store }) => show({ keys: listKeys(store), form_key }),
    refused,
  },
  {
    method: 'POST',
    path: KEYS,
    handler: async ({ form, form_key }, service) => {
      const made = await createKey(service, form.get('name') ?? '');
      return show({ keys: listKeys(service.store), form_key, made }, 201);
    },
    refused,
  },
  {
    method: 'POST',
    path: `${KEYS}/{id}/revoke`,
    handler: async ({ params }, { store }) => {
      await revokeKey(store, String(params.id));
      return KEYS;
    },
    refused,
  },
];
