import { logIn } from '../../lib/guard/api-keys/console-sessions.ts';
import { createKey, listKeys, revokeKey } from '../../lib/guard/api-keys/keys.ts';
import type { Asked, Console, ConsolePage } from '../../lib/http/console-page.ts';
import type { KeysShown } from './pages/keys.tsx';
import type { LoginShown } from './pages/login.tsx';

/** Where the page is. */
const KEYS = '/dashboard/keys';

type KeysOutcome = Pick<KeysShown, 'made' | 'error'>;

type Store = Parameters<typeof listKeys>[0];

const renderKeys = async (asked: Asked, store: Store, told: KeysOutcome = {}, status?: number) => {
  const shown = { keys: listKeys(store), form_key: asked.form_key, ...told };
  return (await import('./render.tsx')).showKeys(asked, shown, status);
};

const keysRefused: ConsolePage['refused'] = ({ status, message }, asked, { store }) =>
  renderKeys(asked, store, { error: message }, status);

/** API keys: listed, made, and revoked. No page runs scripts that shows one. */
const keyPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: KEYS,
    handler: (asked, { store }) => renderKeys(asked, store),
    keysRefused,
  },
  {
    method: 'POST',
    path: KEYS,
    handler: async (asked, service) => {
      const made = await createKey(service, asked.form.get('name') ?? '');
      return renderKeys(asked, service.store, { made }, 201);
    },
    keysRefused,
  },
  {
    method: 'POST',
    path: `${KEYS}/{id}/revoke`,
    handler: async ({ params }, { store }) => {
      await revokeKey(store, String(params.id));
      return KEYS;
    },
    keysRefused,
  },
];

/** Where the page is. */
const LOGIN = '/dashboard/login';

const renderLogin = async (shown: LoginShown, status?: number) =>
  (await import('./render.tsx')).showLogin(shown, status);

const loginRefused: ConsolePage['refused'] = ({ status, message }, { form_key }) =>
  renderLogin({ form_key, error: message }, status);

/** Where a browser shows a key, once, and is known by a cookie from then on. */
const loginPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: LOGIN,
    keyless: true,
    handler: ({ form_key }) => renderLogin({ form_key }),
    loginRefused,
  },
  {
    method: 'POST',
    path: LOGIN,
    keyless: true,
    handler: async ({ form }, service) => ({
      session: await logIn(service, form.get('key') ?? ''),
      location: '/dashboard',
    }),
    loginRefused,
  },
];

// What renders pages is loaded when the first of them is asked for.
const rendering = () => import('./render.tsx');

const refused: ConsolePage['refused'] = async (error) => (await rendering()).showRefusal(error);

/** The operator's console: what a browser is shown. `pages.ts` lists its pages. */
export const operatorConsole: Console = {
  pages: [
    ...keyPages,
    ...loginPages,
    {
      method: 'POST',
      path: '/dashboard/do',
      handler: async (asked) => (await rendering()).doForm(asked),
      refused,
    },
    {
      method: 'GET',
      path: '/dashboard/{path*}',
      handler: async (asked) => (await rendering()).showPage(asked),
      refused,
    },
  ],
  asset: async (name) => (await import('./assets.ts')).asset(name),
};
