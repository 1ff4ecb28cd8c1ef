import { type Html, html } from '../../lib/http/html.ts';
import { STYLE_PATH } from './style.ts';

/** Where the page is. */
export const LOGIN = '/dashboard/login';

export const loginPage = ({
  form_key,
  error,
}: {
  form_key: string;
  error?: string;
}): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Log in · Dossier</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<main>
<h1>Log in</h1>
<p>Give an API key, which <code>dossier key</code> makes in a shell. This browser is known until it is closed, the daemon
ends, or the key is revoked.</p>
${error === undefined ? '' : html`<p class="box error" role="alert">${error}</p>`}
<form method="post" action="${LOGIN}" class="row">
<input type="hidden" name="form_key" value="${form_key}">
<label for="key">API key</label>
<input id="key" name="key" type="password" required maxlength="200" autocomplete="off" placeholder="dossier_…">
<button type="submit">Log in</button>
</form>
</main>
</body>
</html>
`;
