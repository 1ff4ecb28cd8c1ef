import { randomUUID } from 'node:crypto';
import { render } from 'preact-render-to-string';
import { connect, type Dossier, type Fetch } from '../../lib/client/client.ts';
import type { ServiceError } from '../../lib/errors.ts';
import type { Asked, Shown } from '../../lib/http/console-page.ts';
import { consoleUrl } from './common/console-url.ts';
import { loadPage } from './common/load.ts';
import type { Frame } from './common/page.ts';
import { sendForm, sentBy } from './common/send-form.ts';
import { Document, PlainPage, plainDocument } from './document.tsx';
import { pageAt } from './pages/index.ts';
import { Keys, type KeysShown } from './pages/keys.tsx';
import { Login, type LoginShown } from './pages/login.tsx';
import { FormError } from './parts/problems.tsx';
import { Shell } from './parts/shell.tsx';

/** Renders the page at an address, with the result of a form if there is one. */
export const showPage = async (asked: Asked, ended: FormOutcome = {}): Promise<Shown> => {
  const { url, form_key, nonce, workspace } = asked;
  const found = pageAt(url.pathname);
  if (found === undefined) return showNothing(asked, ended);
  const { name, style, params } = found;
  const at = { params, query: Object.fromEntries(url.searchParams) };
  const { page } = await found.open();
  const api = apiFor(asked);
  const [{ shown, missing, fileProblems = [] }, { length: waiting }] = await Promise.all([
    loadPage(page, api, at),
    api.call('GET /attention'),
  ]);
  const frame: Frame = {
    form_key,
    nonce,
    showing: randomUUID(),
    path: url.pathname + url.search,
    waiting,
    workspace,
    missing,
    fileProblems,
    ...ended,
  };
  const document = (
    <Document frame={frame} name={name} at={at} page={page} style={style} shown={shown} />
  );
  const status = ended.problem?.status || missing?.status || 200;
  return { html: `<!doctype html>${render(document)}`, runs: true, status };
};

/** The page for an address without one. It runs no scripts. */
const showNothing = async (asked: Asked, ended: FormOutcome): Promise<Shown> => {
  const frame = await plainFrame(asked);
  const [title, detail] = ['The page does not exist', `The console has no page at ${frame.path}.`];
  const missing = { status: 404, title, detail, on: BOARD };
  const shell = <Shell frame={{ ...frame, missing, ...ended }} page={NO_PAGE} shown={undefined} />;
  return { status: 404, html: plainDocument(title, shell) };
};

const BOARD = { href: '/dashboard/board', name: 'All Work items' };
const NO_PAGE = { View: () => null };

/** The result of a form, as the page shows it. */
type FormOutcome = Pick<Frame, 'problem' | 'once' | 'sent'>;

/** Makes the API call of a form. Returns the location to redirect to, or the form's page with the error. */
export const doForm = async (asked: Asked): Promise<Shown | string> => {
  const { form, file, url } = asked;
  const back = consoleUrl(form.get('_back'), url);
  const end = await sendForm(apiFor(asked), form, form.get('_showing') ?? '', file);
  const on = end.on === undefined ? back : consoleUrl(end.on, url);
  // A first call that was made has saved the text.
  const sent = end.on === undefined ? sentBy(form) : undefined;
  if ('problem' in end) return showPage({ ...asked, url: on }, { problem: end.problem, sent });
  if (end.once !== undefined) return showPage({ ...asked, url: on }, { once: end.once });
  return on.pathname + on.search;
};

// An API client whose calls stay in this process.
const apiFor = ({ call }: Asked): Dossier => {
  const within = async (path: string, init: RequestInit = {}) => {
    const { method = 'GET', headers, body } = init;
    const { status, ...answer } = await call({
      method,
      path,
      headers: headers as Record<string, string>,
      ...(typeof body === 'string' && { body }),
      ...(body instanceof Blob && (await fileBody(body, headers as Record<string, string>))),
    });
    // `Response` refuses a body for these statuses.
    return new Response(status === 204 || status === 304 ? null : new Uint8Array(answer.body), {
      status,
      headers: answer.headers,
    });
  };
  return connect({ url: '', fetch: within as Fetch });
};

const fileBody = async (file: Blob, headers: Record<string, string>) => ({
  body: Buffer.from(await file.arrayBuffer()),
  headers: { ...(file.type !== '' && { 'content-type': file.type }), ...headers },
});

/** The page of a form that has expired, with its text; else a page for an error of a request that is not for one. */
export const showRefusal = async (error: ServiceError, asked: Asked): Promise<Shown> => {
  const { code, status, message } = error;
  const { form, url } = asked;
  if (code === 'form_expired') {
    const problem = { status, title: 'The form has expired', detail: message };
    const page = { ...asked, url: consoleUrl(form.get('_back'), url) };
    return showPage(page, { problem, sent: sentBy(form) });
  }
  const told = (
    <PlainPage>
      <FormError error={message} />
    </PlainPage>
  );
  return { status, html: plainDocument('Refused', told) };
};

/** Key pages load their data in the daemon, because no API call lists keys, and run no scripts. */
export const showKeys = async (asked: Asked, shown: KeysShown, status = 200): Promise<Shown> => {
  const frame = await plainFrame(asked);
  const page = { View: () => <Keys {...shown} /> };
  const html = plainDocument('API keys', <Shell frame={frame} page={page} shown={{}} />);
  return { status, html };
};

// Of a page without scripts.
const plainFrame = async (asked: Asked): Promise<Frame> => {
  const { length: waiting } = await apiFor(asked).call('GET /attention');
  const { form_key, url } = asked;
  return { form_key, nonce: '', showing: '', path: url.pathname, waiting };
};

export const showLogin = (shown: LoginShown, status = 200): Shown => ({
  status,
  html: plainDocument(
    'Log in',
    <PlainPage>
      <Login {...shown} />
    </PlainPage>,
  ),
});
