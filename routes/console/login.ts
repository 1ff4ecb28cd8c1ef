import { logIn } from '../../lib/guard/api-keys/log-in.ts';
import type { ConsolePage } from '../../lib/http/console-page.ts';
import { KEYS } from './keys-html.ts';
import { LOGIN, loginPage } from './login-html.ts';

const refused: ConsolePage['refused'] = (error, { form_key }) => ({
  status: error.status,
  html: loginPage({ form_key, error: error.message }),
});

/** Where a browser shows a key, once, and is known by a cookie from then on. */
export const loginPages: readonly ConsolePage[] = [
  {
    method: 'GET',
    path: LOGIN,
    keyless: true,
    handler: ({ form_key }) => ({ html: loginPage({ form_key }) }),
    refused,
  },
  {
    method: 'POST',
    path: LOGIN,
    keyless: true,
    handler: async ({ form }, service) => ({
      session: await logIn(service, form.get('key') ?? ''),
      location: KEYS,
    }),
    refused,
  },
];
