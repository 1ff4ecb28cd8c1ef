import { logIn } from '../../lib/guard/api-keys/console-sessions.ts';
import type { ConsolePage } from '../../lib/http/console-page.ts';
import type { LoginShown } from './pages/login.tsx';

/** Where the page is. */
const LOGIN = '/dashboard/login';

const show = async (shown: LoginShown, status?: number) =>
  (await import('./render.tsx')).showLogin(shown, status);

const refused: ConsolePage['refused'] = ({ status, message }, { form_key }) =>
  show({ form_key, error: message }, status);

/** Where a browser shows a key, once, and is known by a cookie from then on. */
export const loginPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: LOGIN,
    keyless: true,
    handler: ({ form_key }) => show({ form_key }),
    refused,
  },
  {
    method: 'POST',
    path: LOGIN,
    keyless: true,
    handler: async ({ form }, service) => ({
      session: await logIn(service, form.get('key') ?? ''),
      location: '/dashboard',
    }),
    refused,
  },
];
