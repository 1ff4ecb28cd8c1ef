import { createHash } from 'node:crypto';
import {
  type Request,
  type ResponseToolkit,
  type Server,
  type ServerRoute,
  server,
} from '@hapi/hapi';
import { Type } from 'typebox';
import { ServiceError } from '../errors.ts';
import { tagged } from '../http/answer.ts';
import { readCredential } from '../http/authorize.ts';
import { type Console, consoleRoutes } from '../http/console-page.ts';
import { answerProblems, hapiRoute } from '../http/hapi.ts';
import { addRoutesLazily } from '../http/lazy-routes.ts';
import { type CheckKey, isLoopbackAddress } from '../http/local-only.ts';
import { openApi } from '../http/openapi.ts';
import type { EventDoc } from '../http/openapi-events.ts';
import type { ErrorLog } from '../http/problem.ts';
import { readPathFinder } from '../http/read-path.ts';
import { route, type Section } from '../http/route.ts';
import type { Streams } from '../http/sse.ts';
import { serveUpgrades } from '../http/websocket.ts';
import { DAEMON_HEADER } from '../sandbox/egress/daemon-probe.ts';
import type { Service } from '../service.ts';

export interface ServerOptions {
  /** What the API is: served, and described at /openapi.json. */
  sections: readonly Section[];
  /** What receivers of webhooks are sent: described only. */
  events?: readonly EventDoc[];
  /** What a browser is shown: guarded like the API, not described. */
  console?: Console;
  service: Service;
  log: ErrorLog;
  /** A loopback address; any other throws. */
  host: string;
  /** 0: any free one. */
  port: number;
  checkKey: CheckKey;
  /** How often a silent event stream says that it is alive. */
  heartbeatMs?: number;
}

/** The HTTP server, not yet listening. Stopping it ends the open event streams. */
export const createServer = (options: ServerOptions): Server => {
  const { sections, service, log, host, port } = options;
  if (!isLoopbackAddress(host)) {
    throw new Error(`Only this machine may call the API: bind 127.0.0.1 or ::1, not ${host}.`);
  }
  const hapi = server({ ...SETTINGS, host, port });
  const streams: Streams = { open: new Set(), heartbeatMs: options.heartbeatMs ?? 15_000, log };
  takeUpgrades(hapi, options);
  hapi.ext('onPreResponse', answerProblems(log));
  hapi.ext('onPreStop', () => {
    for (const stream of streams.open) stream.abort();
  });
  const routes = [...sections, description(options)].flatMap((section) => section.routes);
  const where = readPathFinder(routes);
  const addAsked = addRoutesLazily(hapi, routes, (one) => hapiRoute(one, service, streams, where));
  guard(hapi, options, addAsked);
  if (options.console !== undefined) hapi.route(consoleRoutes(options.console, service));
  hapi.route(noSuchRoute(hapi, addAsked));
  return hapi;
};

const takeUpgrades = (hapi: Server, { sections, service, checkKey, log }: ServerOptions): void => {
  const routes = sections.flatMap((section) => section.routes);
  const end = serveUpgrades(hapi.listener, routes, {
    ...{ service, checkKey, log },
    port: () => Number(hapi.info.port),
  });
  hapi.ext('onPreStop', end);
};

// Nothing that the API does not use: no cookies, no compression, no CORS, no logs of hapi's own.
const SETTINGS = {
  compression: false,
  debug: false,
  routes: { state: { parse: false, failAction: 'ignore' } },
} as const;

const guard = (
  hapi: Server,
  { checkKey, service }: ServerOptions,
  addAsked: (path: string) => void,
): void => {
  hapi.ext('onRequest', async ({ raw, path, app }, h) => {
    raw.res.setHeader('x-content-type-options', 'nosniff');
    raw.res.setHeader('x-frame-options', 'DENY');
    raw.res.setHeader(DAEMON_HEADER, '1');
    const { headers } = raw.req;
    const port = Number(hapi.info.port);
    app.credential = await readCredential(headers, { path, port, checkKey, service });
    addAsked(path);
    return h.continue;
  });
};

// Made when first asked for, and then as good as a file.
const description = ({ sections, events = [], service }: ServerOptions): Section => {
  let made: ReturnType<typeof tagged<object>> | undefined;
  const make = () => {
    const document = openApi([...sections, section], events, service.version.version);
    const body = Buffer.from(JSON.stringify(document));
    return tagged<object>(body, createHash('sha256').update(body).digest('base64url'));
  };
  const openapi = route('GET /openapi.json', {
    operationId: 'getOpenApi',
    summary: 'This document',
    response: Type.Object({}),
    handler: () => {
      made ??= make();
      return made;
    },
  });
  const section: Section = {
    ...{ title: 'Description', description: 'What the API is, for programs' },
    routes: [openapi],
  };
  return section;
};

// The last resort of the router: OPTIONS, a known path with another method, an unknown path.
const noSuchRoute = (hapi: Server, addAsked: (path: string) => void): ServerRoute => ({
  method: '*',
  path: '/{any*}',
  handler: ({ method, path }: Request, h: ResponseToolkit) => {
    const allow = allowed(hapi, path).join(', ');
    const asked = `${method.toUpperCase()} ${path}`;
    if (allow === '') {
      const near = otherPath(path);
      addAsked(near);
      const isMeant = allowed(hapi, near).includes(method.toUpperCase());
      const hint = isMeant ? `, but ${method.toUpperCase()} ${near}` : '';
      const message = `There is no ${asked}${hint}. The endpoints are listed in /openapi.json.`;
      throw new ServiceError('route_not_found', message);
    }
    if (method === 'options') return h.response().code(204).header('allow', allow);
    const message = `${asked} does not exist. ${path} takes ${allow}.`;
    throw new ServiceError('method_not_allowed', message, { headers: { allow } });
  },
  options: { payload: { parse: false, output: 'data', override: 'application/octet-stream' } },
});

// Some paths of the interface begin with /api and others do not.
const otherPath = (path: string): string =>
  path.startsWith('/api/') ? path.slice('/api'.length) : `/api${path}`;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const allowed = (hapi: Server, path: string): string[] =>
  METHODS.filter((method) => hapi.match(method, path)?.method === method).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
