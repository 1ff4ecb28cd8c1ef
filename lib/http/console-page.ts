import { randomBytes } from 'node:crypto';
import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { requireOperator } from './authorize.ts';
import { readBytes, UNPARSED } from './body.ts';
import { checkForm, formKey, sessionCookie } from './cookies.ts';

/** A call of the API that a page makes on behalf of its viewer. */
interface ConsoleCall {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** The API's answer to it. */
interface ConsoleAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** A request for a page of the console. */
export interface Asked {
  params: Record<string, unknown>;
  /** The address in the browser. */
  url: URL;
  /** The fields of a POST, after the check of its form key. */
  form: URLSearchParams;
  /** The uploaded file of the form. */
  file?: File | undefined;
  /** The CSRF token that every form of the page sends back as `form_key`. */
  form_key: string;
  /** The CSP nonce for style sheets that the console's scripts create. */
  nonce: string;
  /** The workspace, where commands have to name it. */
  workspace: string | undefined;
  /** Calls the API within this process, with the credential of the viewer. */
  call: (asked: ConsoleCall) => Promise<ConsoleAnswer>;
}

export interface Shown {
  /** A whole document. */
  html: string;
  /** The page runs the console's scripts, which may call the API. */
  runs?: boolean;
  /** Default: 200. */
  status?: number;
}

/** Sets the session cookie, and redirects the browser. */
interface Login {
  session: string;
  location: string;
}

type PageResult = Shown | Login | string;

/** A page of the operator's console, or the target of one of its forms. Not part of the API. */
export interface ConsolePage {
  method: 'GET' | 'POST';
  /** In hapi's form, below /dashboard. */
  path: string;
  /** The page needs no API key, even if the settings require one. */
  keyless?: boolean;
  /** Returns a document, or the address of a redirect. */
  handler: (asked: Asked, service: Service) => PageResult | Promise<PageResult>;
  /** Shows why the request was refused. */
  refused: (error: ServiceError, asked: Asked, service: Service) => Shown | Promise<Shown>;
}

/** The pages and their assets. */
export interface Console {
  pages: readonly ConsolePage[];
  /** An asset by its file name; undefined if there is none. */
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

// Redirects browsers to the console, and points programs to the API.
const topRoute: ServerRoute = {
  method: 'GET',
  path: '/',
  handler: ({ raw }, h) => {
    if (raw.req.headers.accept?.includes('text/html') === true)
      return h.redirect(CONSOLE).vary('accept');
    throw new ServiceError('route_not_found', NOTHING_HERE);
  },
};
const NOTHING_HERE = `There is no endpoint at /. The endpoints, such as /health and /cases, are listed in /openapi.json. The console for browsers is at ${CONSOLE}.`;

// Pages are for the operator only, as the API is.
const pageRoute = (page: ConsolePage, service: Service): ServerRoute => ({
  method: page.method,
  path: page.path,
  options: page.method === 'GET' ? {} : { payload: UNPARSED },
  handler: async (request, h) => {
    await service.started;
    const { app, raw } = request;
    const port = Number(request.server.info.port);
    const keyless = page.keyless === true;
    if (!keyless && service.requiresKey() && app.key === undefined)
      return h.redirect(loginFor(request)).code(303);
    await requireOperator(raw.req.socket, app.key, service, keyless);
    const { key, cookie } = formKey(raw.req.headers.cookie, port);
    const form = new URLSearchParams();
    const { params, url } = request;
    const nonce = randomBytes(16).toString('base64');
    const asked = {
      params,
      url,
      form,
      form_key: key,
      nonce,
      ...namedBy(service),
      call: callerOf(request),
    };
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

// A shell may not have the daemon's DOSSIER_WORKSPACE, so only the default workspace goes without saying.
const namedBy = ({ config: { workspace, env } }: Service) => ({
  workspace: workspace === `${env.HOME}/dossier` && !env.DOSSIER_WORKSPACE ? undefined : workspace,
});

// The browser returns to the page that it asked for.
const loginFor = ({ method, url }: Request): string =>
  method === 'get' && url.pathname !== CONSOLE
    ? `${LOGIN}?back=${encodeURIComponent(url.pathname + url.search)}`
    : LOGIN;

const assetRoute = (asset: Console['asset']): ServerRoute => ({
  method: 'GET',
  path: `${CONSOLE}/assets/{name}`,
  handler: async ({ params }, h) => {
    const found = await asset(String(params.name));
    if (found === undefined) throw new ServiceError('route_not_found', OLD_ASSET);
    // The name of an asset changes with its content.
    const answer = h.response(found.bytes).type(found.type);
    return answer.header('cache-control', 'public, max-age=31536000, immutable');
  },
});

const OLD_ASSET = 'The page is from another version of the daemon. Reload it.';

// Injects the request into the server. It has no connection, but the page's own request was authorized already.
const callerOf =
  ({ server, raw }: Request): Asked['call'] =>
  async ({ method, path, headers, body }) => {
    const { host, cookie, authorization } = raw.req.headers;
    const shown = { host, cookie, authorization };
    const sent = Object.entries(shown).filter(([, value]) => value !== undefined);
    const answer = await server.inject({
      method,
      url: path,
      headers: { ...headers, ...Object.fromEntries(sent) },
      ...(body !== undefined && { payload: body }),
    });
    const { statusCode: status, headers: all, rawPayload } = answer;
    const told = Object.entries(all).map(([name, value]) => [name, String(value)]);
    return { status, headers: Object.fromEntries(told), body: rawPayload };
  };

// Allows only the console's own files: no inline scripts, nothing from other origins.
const policyOf = (went: PageResult, nonce: string): string => {
  const isRun = typeof went === 'object' && 'runs' in went && went.runs === true;
  const styles = `style-src 'self'${isRun ? ` 'nonce-${nonce}'` : ''}`;
  const runs = isRun ? RUNS : [];
  return ["default-src 'none'", styles, ...runs, "img-src 'self' data:", ...WITHIN].join('; ');
};
const RUNS = ["script-src 'self'", "connect-src 'self'", "worker-src 'self'"];
const WITHIN = ["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"];

// With a stricter referrer policy browsers send `Origin: null` with forms.
const HEADERS = {
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

const LOGIN = '/dashboard/login';

const isLogIn = (went: PageResult): went is Login => typeof went === 'object' && 'session' in went;

const send = (went: PageResult, h: ResponseToolkit) => {
  if (typeof went === 'string') return h.response().redirect(went).code(303);
  if (isLogIn(went)) return h.response().redirect(went.location).code(303);
  const { html, status = 200 } = went;
  return h.response(html).code(status).type('text/html; charset=utf-8');
};

const answerOf = async (
  page: ConsolePage,
  request: Request,
  { asked, service }: { asked: Asked; service: Service },
): Promise<PageResult> => {
  let sent: Partial<Asked> = {};
  try {
    if (page.method === 'GET') return await page.handler(asked, service);
    sent = await formOf(request);
    checkForm(sent.form ?? asked.form, request.raw.req.headers.cookie, asked.form_key);
    return await page.handler({ ...asked, ...sent }, service);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return page.refused(error, { ...asked, ...sent }, service);
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
    'Forms are limited to 1 MB without scripts, and this one was discarded. Go back and allow scripts, or send it to the API.',
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
  new ServiceError(
    'unsupported_media_type',
    'The form is neither application/x-www-form-urlencoded nor multipart/form-data. Send it as a browser does.',
  );
