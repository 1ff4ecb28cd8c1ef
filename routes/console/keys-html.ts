import type { ListedKey } from '../../lib/guard/api-keys/keys.ts';
import { type Html, html } from '../../lib/http/html.ts';
import { framed } from './framed-html.ts';

/** Where the page is. */
export const KEYS = '/dashboard/keys';

interface KeysPage {
  keys: readonly ListedKey[];
  form_key: string;
  /** The one that was made just now: its text is shown this once. */
  made?: { key: ListedKey; text: string };
  error?: string;
}

export const keysPage = ({ keys, form_key, made, error }: KeysPage): Html =>
  framed(
    'API keys',
    html`<h1>API keys</h1>
<p>Programs on this machine may call the API without a key. A program that is given one sends it as
<code>Authorization: Bearer …</code>; from the moment you revoke it, its calls are refused.</p>
${error === undefined ? '' : html`<p class="box error" role="alert">${error}</p>`}
${made === undefined ? '' : shownOnce(made)}
<section aria-labelledby="new">
<h2 id="new">New key</h2>
<form method="post" action="${KEYS}" class="row">
<input type="hidden" name="form_key" value="${form_key}">
<label for="name">Name</label>
<input id="name" name="name" required maxlength="100" autocomplete="off" placeholder="What it is for, such as editor plug-in">
<button type="submit">Create key</button>
</form>
</section>
<section aria-labelledby="keys">
<h2 id="keys">Keys</h2>
${keys.length === 0 ? html`<p class="quiet">There are none.</p>` : table(keys, form_key)}
</section>
`,
  );

const shownOnce = ({ key, text }: NonNullable<KeysPage['made']>): Html => html`
<div class="box" role="status">
<p><strong>${key.name}</strong> was made. Copy the key now: it is not kept, and not shown again.</p>
<input class="key" readonly value="${text}" aria-label="The new key" size="${text.length}">
</div>`;

const table = (keys: readonly ListedKey[], form_key: string): Html => html`
<table>
<thead><tr><th scope="col">Name</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col"><span class="unseen">Revoke</span></th></tr></thead>
<tbody>${keys.map((key) => row(key, form_key))}</tbody>
</table>`;

// To open it is the question, to press the button the answer: that needs no script.
const row = ({ id, name, created_at, last_used_at }: ListedKey, form_key: string): Html => html`
<tr>
<th scope="row">${name}</th>
<td>${time(created_at)}</td>
<td>${last_used_at === null ? 'never' : time(last_used_at)}</td>
<td><details><summary>Revoke…<span class="unseen"> ${name}</span></summary>
<form method="post" action="${KEYS}/${id}/revoke">
<input type="hidden" name="form_key" value="${form_key}">
<button type="submit" class="danger">Revoke<span class="unseen"> ${name}</span> now</button>
</form></details></td>
</tr>`;

const time = (at: string): Html =>
  html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 16)} UTC</time>`;
