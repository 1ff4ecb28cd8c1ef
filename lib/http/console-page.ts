import { randomBytes } from 'node:crypto';
import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { admitOperator } from './authorize.ts';
import { readBytes, UNREAD } from './body.ts';
import { checkForm, formKey, sessionCookie } from './cookies.ts';

/** A call of the API, made by a page for who looks at it. */
export interface ConsoleCall {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** What the API answered to it. */
export interface ConsoleAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** What a page of the console is asked for. */
export interface Asked {
  params: Record<string, unknown>;
  /** Where the browser is. */
  url: URL;
  /** Of a POST; it came from a form of ours. */
  form: URLSearchParams;
  /** What the form has for a file. */
  file?: File | undefined;
  /** What every form of the page sends back as `form_key`. */
  form_key: string;
  /** What a sheet says that a script of ours makes: the policy of this answer takes it. */
  nonce: string;
  /** Asks the API, within this process, with the word of who looks at the page. */
  call: (asked: ConsoleCall) => Promise<ConsoleAnswer>;
}

export interface Shown {
  /** A whole document. */
  html: string;
  /** The page runs the console's scripts, and may ask the API. */
  runs?: boolean;
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
  refused: (error: ServiceError, asked: Asked, service: Service) => Shown | Promise<Shown>;
}

/** The pages, and what they load. */
export interface Console {
  pages: readonly ConsolePage[];
  /** A file that pages load, by its name; undefined where there is none. */
  asset: (name: string) => Promise<Asset | undefined>;
}

interface Asset {
  bytes: Buffer;
  type: string;
}

export const consoleRoutes = ({ pages, asset }: Console, service: Service): ServerRoute[] => [
  topRoute,
  ...pages.map((page) => pageRoute(page, service)),
  assetRoute(asset),
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
    const form = new URLSearchParams();
    const { params, url } = request;
    const nonce = randomBytes(16).toString('base64');
    const asked = { params, url, form, form_key: key, nonce, call: callerOf(request) };
    const shown = await answerOf(page, request, { asked, service });
    const answer = send(shown, h);
    if (cookie !== undefined) answer.header('set-cookie', cookie, { append: true });
    if (isLogIn(shown))
      answer.header('set-cookie', sessionCookie(shown.session, port), { append: true });
    answer.header('content-security-policy', policyOf(shown, nonce));
    for (const [name, value] of Object.entries(HEADERS)) answer.header(name, value);
    return answer;
  },
});

const assetRoute = (asset: Console['asset']): ServerRoute => ({
  method: 'GET',
  path: `${CONSOLE}/assets/{name}`,
  handler: async ({ params }, h) => {
    const found = await asset(String(params.name));
    if (found === undefined) throw new ServiceError('route_not_found', OLD_ASSET);
    // Its name is another when its content is.
    const answer = h.response(found.bytes).type(found.type);
    return answer.header('cache-control', 'public, max-age=31536000, immutable');
  },
});

const OLD_ASSET = 'The page is of another version of the daemon. Load it anew.';

// As if it came from outside, but for the connection: whose word it is has been looked at for the page.
const callerOf =
  ({ server, raw }: Request): Asked['call'] =>
  async ({ method, path, headers, body }) => {
    const { host, cookie, authorization } = raw.req.headers;
    const shown = { host, cookie, authorization };
    const sent = Object.entries(shown).filter(([, value]) => value !== undefined);
    const answer = await server.inject({
      ...{ method, url: path, headers: { ...headers, ...Object.fromEntries(sent) } },
      ...(body !== undefined && { payload: body }),
    });
    const { statusCode: status, headers: all, rawPayload } = answer;
    const told = Object.entries(all).map(([name, value]) => [name, String(value)]);
    return { status, headers: Object.fromEntries(told), body: rawPayload };
  };

// Nothing from elsewhere, and nothing that is written in a page: what runs is a file of ours.
const policyOf = (went: Went, nonce: string): string => {
  const isRun = typeof went === 'object' && 'runs' in went && went.runs === true;
  const styles = `style-src 'self'${isRun ? ` 'nonce-${nonce}'` : ''}`;
  const runs = isRun ? RUNS : [];
  return ["default-src 'none'", styles, ...runs, "img-src 'self' data:", ...WITHIN].join('; ');
};
const RUNS = ["script-src 'self'", "connect-src 'self'", "worker-src 'self'"];
const WITHIN = ["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"];

// With a stricter referrer policy browsers say of a form's origin that it is none.
const HEADERS = {
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
  return h.response(html).code(status).type('text/html; charset=utf-8');
};

const answerOf = async (
  page: ConsolePage,
  request: Request,
  { asked, service }: { asked: Asked; service: Service },
): Promise<Went> => {
  try {
    if (page.method === 'GET') return await page.handler(asked, service);
    const sent = await formOf(request);
    checkForm(sent.form, request.raw.req.headers.cookie, asked.form_key);
    return await page.handler({ ...asked, ...sent }, service);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return page.refused(error, asked, service);
  }
};

const LARGEST_FORM = 1024 * 1024;

const formOf = async ({ raw: { req } }: Request): Promise<Pick<Asked, 'form' | 'file'>> => {
  const declared = Number(req.headers['content-length'] ?? 0);
  const limits = { maxBytes: LARGEST_FORM, patienceMs: 10_000 };
  const bytes = await readBytes(req, declared, limits).catch(orTooLarge);
  const sentAs = req.headers['content-type'] ?? '';
  const type = sentAs.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded')
    return { form: new URLSearchParams(bytes.toString()) };
  if (type === 'multipart/form-data') return partsOf(bytes, sentAs);
  throw notOfBrowser();
};

const orTooLarge = (error: unknown): never => {
  if (!(error instanceof ServiceError) || error.code !== 'too_large') throw error;
  throw new ServiceError(
    'too_large',
    'Without scripts a form takes 1 MB, and nothing of this one was kept. Go back and let scripts run, or send it to the API.',
  );
};

const partsOf = async (bytes: Buffer, type: string): Promise<Pick<Asked, 'form' | 'file'>> => {
  const sent = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } });
  const parts = await sent.formData().catch(() => {
    throw notOfBrowser();
  });
  const form = new URLSearchParams();
  let file: File | undefined;
  for (const [name, value] of parts)
    if (typeof value === 'string') form.append(name, value);
    else if (value.name !== '') file = value;
  return { form, file };
};

const notOfBrowser = () =>
  new ServiceError('unsupported_media_type', 'Send the form as a browser does.');
