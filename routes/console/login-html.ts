import { type Html, html } from '../../lib/http/html.ts';
import { framed } from './framed-html.ts';

/** Where the page is. */
export const LOGIN = '/dashboard/login';

export const loginPage = ({ form_key, error }: { form_key: string; error?: string }): Html =>
  framed(
    'Log in',
    html`<h1>Log in</h1>
<p>Give an API key, which <code>dossier key</code> makes in a shell. This browser is known until it is closed, the daemon
ends, or the key is revoked.</p>
${error === undefined ? '' : html`<p class="box error" role="alert">${error}</p>`}
<form method="post" action="${LOGIN}" class="row">
<input type="hidden" name="form_key" value="${form_key}">
<label for="key">API key</label>
<input id="key" name="key" type="password" required maxlength="200" autocomplete="off" placeholder="dossier_…">
<button type="submit">Log in</button>
</form>
`,
  );
