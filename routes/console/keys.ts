import { createKey, listKeys, revokeKey } from '../../lib/guard/api-keys/keys.ts';
import type { ConsolePage } from '../../lib/http/console-page.ts';
import { KEYS, keysPage } from './keys-html.ts';

const refused: ConsolePage['refused'] = (error, { form_key }, { store }) => ({
  status: error.status,
  html: keysPage({ keys: listKeys(store), form_key, error: error.message }),
});

/** API keys: listed, made, and revoked. */
export const keyPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: KEYS,
    handler: ({ form_key }, { store }) => ({
      html: keysPage({ keys: listKeys(store), form_key }),
    }),
    refused,
  },
  {
    method: 'POST',
    path: KEYS,
    handler: async ({ form, form_key }, service) => {
      const made = await createKey(service, form.get('name') ?? '');
      return { status: 201, html: keysPage({ keys: listKeys(service.store), form_key, made }) };
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
