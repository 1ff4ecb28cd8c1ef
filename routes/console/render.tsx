import { randomUUID } from 'node:crypto';
import { render } from 'preact-render-to-string';
import { connect, type Dossier, type Fetch } from '../../lib/client/client.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Asked, Shown } from '../../lib/http/console-page.ts';
import { assets } from './assets.ts';
import { loadNow } from './common/load.ts';
import type { Frame } from './common/page.ts';
import { sendForm } from './common/send-form.ts';
import { Bare, Document, plainDocument } from './document.tsx';
import { PAGES, pageAt } from './pages/index.ts';
import { Keys, type KeysShown } from './pages/keys.tsx';
import { Login, type LoginShown } from './pages/login.tsx';
import { Refused } from './parts/problems.tsx';
import { Shell } from './parts/shell.tsx';

/** Shows the page at the address that was asked for, after a form perhaps. Throws `route_not_found`. */
export const showPage = async (asked: Asked, ended: Ended = {}): Promise<Shown> => {
  const { url, form_key, nonce } = asked;
  const found = pageAt(url.pathname);
  if (found === undefined)
    throw new ServiceError('route_not_found', `The console has no page at ${url.pathname}.`);
  const at = { params: found.params, query: Object.fromEntries(url.searchParams) };
  const { style, open } = PAGES[found.name] as (typeof PAGES)[string];
  const page = await open();
  const api = apiFor(asked);
  const [{ shown, missing, faults = [] }, { length: waiting }] = await Promise.all([
    loadNow(page, api, at),
    api.call('GET /attention'),
  ]);
  const frame: Frame = {
    ...{ form_key, nonce, showing: randomUUID(), path: url.pathname + url.search, waiting },
    ...{ missing, faults, ...ended },
  };
  const document = <Document {...{ frame, name: found.name, at, page, style, shown, assets }} />;
  const status = ended.problem?.status || missing?.status || 200;
  return { html: `<!doctype html>${render(document)}`, runs: true, status };
};

/** What the last form came to, where that is shown. */
type Ended = Pick<Frame, 'problem' | 'once' | 'sent'>;

/** Makes the call of the API that a form stands for, and leads on; shows the form's page again with why it was refused. */
export const doForm = async (asked: Asked): Promise<Shown | string> => {
  const { form, file, url } = asked;
  const back = pathOf(form.get('_back'), url);
  const end = await sendForm(apiFor(asked), form, form.get('_showing') ?? '', file);
  const on = end.on === undefined ? back : pathOf(end.on, url);
  const sent = form.get('_markdown')?.replaceAll('\r\n', '\n');
  if ('told' in end) return showPage({ ...asked, url: on }, { problem: end.told, sent });
  if (end.once !== undefined) return showPage({ ...asked, url: on }, { once: end.once });
  return on.pathname + on.search;
};

// The API's client, whose calls do not leave this process.
const apiFor = ({ call }: Asked): Dossier => {
  const within = async (path: string, init: RequestInit = {}) => {
    const { method = 'GET', headers, body } = init;
    const { status, ...answer } = await call({
      ...{ method, path, headers: headers as Record<string, string> },
      ...(typeof body === 'string' && { body }),
      ...(body instanceof Blob && (await sentAs(body, headers as Record<string, string>))),
    });
    // No body may be given where none can be.
    return new Response(status === 204 || status === 304 ? null : new Uint8Array(answer.body), {
      status,
      headers: answer.headers,
    });
  };
  return connect({ url: '', fetch: within as Fetch });
};

const sentAs = async (file: Blob, headers: Record<string, string>) => ({
  body: Buffer.from(await file.arrayBuffer()),
  headers: { ...(file.type !== '' && { 'content-type': file.type }), ...headers },
});

// Of the console: a form leads nowhere else.
const pathOf = (path: string | null, base: URL): URL => {
  const url = new URL(path || '/dashboard', base);
  return url.origin === base.origin && /^\/dashboard(?:\/|$)/.test(url.pathname)
    ? url
    : new URL('/dashboard', base);
};

/** Says in a page why something was refused that no page had asked for. */
export const showRefusal = ({ status, message }: ServiceError): Shown => ({
  status,
  html: plainDocument(
    'Refused',
    <Bare>
      <Refused error={message} />
    </Bare>,
  ),
});

/** Of these pages the daemon knows what no call of the API tells; no script runs in them. */
export const showKeys = async (asked: Asked, shown: KeysShown, status = 200): Promise<Shown> => {
  const { length: waiting } = await apiFor(asked).call('GET /attention');
  const frame: Frame = {
    form_key: shown.form_key,
    nonce: '',
    showing: '',
    path: asked.url.pathname,
    waiting,
  };
  const page = { View: () => <Keys {...shown} /> };
  const html = plainDocument('API keys', <Shell frame={frame} page={page} shown={{}} />);
  return { status, html };
};

export const showLogin = (shown: LoginShown, status = 200): Shown => ({
  status,
  html: plainDocument(
    'Log in',
    <Bare>
      <Login {...shown} />
    </Bare>,
  ),
});
