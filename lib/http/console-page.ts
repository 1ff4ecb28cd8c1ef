import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { readBytes, UNREAD } from './bytes.ts';
import { admitOperator } from './door.ts';
import { checkForm, formKey } from './form-key.ts';
import type { Html } from './html.ts';
import { sessionCookie } from './session-cookie.ts';

/** What a page of the console is asked for. */
interface Asked {
  params: Record<string, unknown>;
  /** Of a POST; it came from a form of ours. */
  form: URLSearchParams;
  /** What every form of the page sends back as `form_key`. */
  form_key: string;
}

interface Shown {
  html: Html;
  /** Default: 200. */
  status?: number;
}

/** Where the browser goes on, known by this from now on. */
interface LoggedIn {
  session: string;
  location: string;
}

type Went = Shown | LoggedIn | string;

/** A page of the operator's console, or what one of its forms is sent to: no part of the API. */
export interface ConsolePage {
  method: 'GET' | 'POST';
  /** In hapi's form, below /dashboard. */
  path: string;
  /** It is there for who has no key yet, though the settings ask for one. */
  keyless?: boolean;
  /** Shows something, or says where to go on. */
  handler: (asked: Asked, service: Service) => Went | Promise<Went>;
  /** Shows why it was refused. */
  refused: (error: ServiceError, asked: Asked, service: Service) => Shown;
}

/** The pages, and the one style sheet of all. */
export interface Console {
  pages: readonly ConsolePage[];
  /** The page that is shown to who names none. */
  home: string;
  style: { path: string; css: string };
}

export const consoleRoutes = ({ pages, home, style }: Console, service: Service): ServerRoute[] => [
  topRoute,
  { method: 'GET', path: CONSOLE, handler: (_request, h) => h.redirect(home) },
  ...pages.map((page) => pageRoute(page, service)),
  styleRoute(style),
];

const CONSOLE = '/dashboard';

// A browser is led to the console; a program is told where the API is.
const topRoute: ServerRoute = {
  method: 'GET',
  path: '/',
  handler: ({ raw }, h) => {
    if (raw.req.headers.accept?.includes('text/html') === true)
      return h.redirect(CONSOLE).vary('accept');
    throw new ServiceError('route_not_found', NOTHING_HERE);
  },
};
const NOTHING_HERE = `There is nothing at /. The API begins at its paths, such as /health and /cases; all of them are listed in /openapi.json. The console for a browser is at ${CONSOLE}.`;

// To the operator, and to no process of an agent's; with nothing in it that a browser would run.
const pageRoute = (page: ConsolePage, service: Service): ServerRoute => ({
  method: page.method,
  path: page.path,
  options: page.method === 'GET' ? {} : { payload: UNREAD },
  handler: async (request, h) => {
    const { app, raw } = request;
    const port = Number(request.server.info.port);
    const keyless = page.keyless === true;
    if (!keyless && service.requiresKey() && app.credential?.key === undefined)
      return h.redirect(LOGIN).code(303);
    await admitOperator(raw.req.socket, app.credential, service, keyless);
    const { key, cookie } = formKey(raw.req.headers.cookie, port);
    const asked = { params: request.params, form: new URLSearchParams(), form_key: key };
    const shown = await answerOf(page, request, { asked, service });
    const answer = send(shown, h);
    if (cookie !== undefined) answer.header('set-cookie', cookie, { append: true });
    if (isLogIn(shown))
      answer.header('set-cookie', sessionCookie(shown.session, port), { append: true });
    for (const [name, value] of Object.entries(HEADERS)) answer.header(name, value);
    return answer;
  },
});

const styleRoute = ({ path, css }: Console['style']): ServerRoute => ({
  method: 'GET',
  path,
  handler: (_request, h) => h.response(css).type('text/css; charset=utf-8'),
});

// With a stricter referrer policy browsers say of a form's origin that it is none.
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

const LOGIN = '/dashboard/login';

const isLogIn = (went: Went): went is LoggedIn => typeof went === 'object' && 'session' in went;

const send = (went: Went, h: ResponseToolkit) => {
  if (typeof went === 'string') return h.response().redirect(went).code(303);
  if (isLogIn(went)) return h.response().redirect(went.location).code(303);
  const { html, status = 200 } = went;
  return h.response(html.text).code(status).type('text/html; charset=utf-8');
};

const answerOf = async (
  page: ConsolePage,
  request: Request,
  { asked, service }: { asked: Asked; service: Service },
): Promise<Went> => {
  try {
    const form = page.method === 'GET' ? asked.form : await formOf(request);
    if (page.method === 'POST') checkForm(form, request.raw.req.headers.cookie, asked.form_key);
    return await page.handler({ ...asked, form }, service);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return page.refused(error, asked, service);
  }
};

const LARGEST_FORM = 16_384;

const formOf = async ({ raw: { req } }: Request): Promise<URLSearchParams> => {
  const declared = Number(req.headers['content-length'] ?? 0);
  const bytes = await readBytes(req, declared, { maxBytes: LARGEST_FORM, patienceMs: 10_000 });
  const type = (req.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return new URLSearchParams(bytes.toString());
  throw new ServiceError('unsupported_media_type', 'Send the form as a browser does.');
};
