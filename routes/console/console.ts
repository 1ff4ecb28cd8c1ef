import { logIn } from '../../lib/guard/api-keys/console-sessions.ts';
import { createKey, listKeys, revokeKey } from '../../lib/guard/api-keys/keys.ts';
import type { Asked, Console, ConsolePage } from '../../lib/http/console-page.ts';
import { consoleUrl } from './common/console-url.ts';
import type { KeysShown } from './pages/keys.tsx';
import type { LoginShown } from './pages/login.tsx';

const KEYS = '/dashboard/keys';

// The renderer is loaded for the first request of a page.
const loadRenderer = () => import('./render.tsx');

type KeysOutcome = Pick<KeysShown, 'made' | 'error'>;

type Store = Parameters<typeof listKeys>[0];

const renderKeys = async (asked: Asked, store: Store, told: KeysOutcome = {}, status?: number) => {
  const shown = { keys: listKeys(store), form_key: asked.form_key, ...told };
  return (await loadRenderer()).showKeys(asked, shown, status);
};

const keysRefused: ConsolePage['refused'] = ({ status, message }, asked, { store }) =>
  renderKeys(asked, store, { error: message }, status);

/** Lists, creates and revokes API keys. These pages run no scripts, because they show a key. */
const keyPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: KEYS,
    handler: (asked, { store }) => renderKeys(asked, store),
    refused: keysRefused,
  },
  {
    method: 'POST',
    path: KEYS,
    handler: async (asked, service) => {
      const made = await createKey(service, asked.form.get('name') ?? '');
      return renderKeys(asked, service.store, { made }, 201);
    },
    refused: keysRefused,
  },
  {
    method: 'POST',
    path: `${KEYS}/{id}/revoke`,
    handler: async ({ params }, { store }) => {
      await revokeKey(store, String(params.id));
      return KEYS;
    },
    refused: keysRefused,
  },
];

const LOGIN = '/dashboard/login';

const renderLogin = async (shown: LoginShown, status?: number) =>
  (await loadRenderer()).showLogin(shown, status);

const loginOf = (asked: Asked): LoginShown => ({
  form_key: asked.form_key,
  back: backOf(asked),
  workspace: asked.workspace,
});

const loginRefused: ConsolePage['refused'] = ({ status, message }, asked) =>
  renderLogin({ ...loginOf(asked), error: message }, status);

/** The page that asked for the log-in. */
const backOf = ({ url }: Asked): string => {
  const { pathname, search } = consoleUrl(url.searchParams.get('back'), url);
  return pathname === LOGIN ? '/dashboard' : pathname + search;
};

/** Exchanges an API key for a session cookie. */
const loginPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: LOGIN,
    keyless: true,
    handler: (asked) => renderLogin(loginOf(asked)),
    refused: loginRefused,
  },
  {
    method: 'POST',
    path: LOGIN,
    keyless: true,
    handler: async (asked, service) => ({
      session: await logIn(service, asked.form.get('key') ?? ''),
      location: backOf(asked),
    }),
    refused: loginRefused,
  },
];

const refused: ConsolePage['refused'] = async (error, asked) =>
  (await loadRenderer()).showRefusal(error, asked);

/** The console's pages and forms. `pages/index.ts` lists the pages. */
export const operatorConsole: Console = {
  pages: [
    ...keyPages,
    ...loginPages,
    {
      method: 'POST',
      path: '/dashboard/do',
      handler: async (asked) => (await loadRenderer()).doForm(asked),
      refused,
    },
    {
      method: 'GET',
      path: '/dashboard/{path*}',
      handler: async (asked) => (await loadRenderer()).showPage(asked),
      refused,
    },
  ],
  asset: async (name) => (await import('./assets.ts')).asset(name),
};
