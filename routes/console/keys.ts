import { createKey, listKeys, revokeKey } from '../../lib/guard/api-keys/keys.ts';
import type { Asked, ConsolePage } from '../../lib/http/console-page.ts';
import type { KeysShown } from './pages/keys.tsx';

/** Where the page is. */
const KEYS = '/dashboard/keys';

type Told = Pick<KeysShown, 'made' | 'error'>;

type Store = Parameters<typeof listKeys>[0];

const show = async (asked: Asked, store: Store, told: Told = {}, status?: number) => {
  const shown = { keys: listKeys(store), form_key: asked.form_key, ...told };
  return (await import('./render.tsx')).showKeys(asked, shown, status);
};

const refused: ConsolePage['refused'] = ({ status, message }, asked, { store }) =>
  show(asked, store, { error: message }, status);

/** API keys: listed, made, and revoked. No page runs scripts that shows one. */
export const keyPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: KEYS,
    handler: (asked, { store }) => show(asked, store),
    refused,
  },
  {
    method: 'POST',
    path: KEYS,
    handler: async (asked, service) => {
      const made = await createKey(service, asked.form.get('name') ?? '');
      return show(asked, service.store, { made }, 201);
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
