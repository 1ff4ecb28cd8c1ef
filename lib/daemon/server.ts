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
import { readKey } from '../http/authorize.ts';
import { type Console, consoleRoutes } from '../http/console-page.ts';
import { answerProblems, hapiRoute } from '../http/hapi.ts';
import { addRoutesLazily } from '../http/lazy-routes.ts';
import { isLoopbackAddress } from '../http/local-only.ts';
import { openApi } from '../http/openapi.ts';
import { readPathFinder } from '../http/read-path.ts';
import { route, type Section } from '../http/route.ts';
import type { Streams } from '../http/sse.ts';
import { answerUnparsed, createListener } from '../http/unparsed.ts';
import { lazy } from '../http/validation.ts';
import { serveUpgrades } from '../http/websocket.ts';
import { DAEMON_HEADER } from '../sandbox/egress/network-environment.ts';
import type { Service } from '../service.ts';
import { EVENTS } from './events.ts';

export interface ServerOptions {
  /** The API: served, and described in /openapi.json. */
  sections: readonly Section[];
  /** The pages for browsers: authorized like the API, and not in /openapi.json. */
  console?: Console;
  service: Service;
  /** A loopback address; createServer throws for any other. */
  host: string;
  /** 0: any free port. */
  port: number;
  /** The interval of comment lines in an idle event stream. */
  heartbeatMs?: number;
}

/** Creates the HTTP server, which does not listen yet. Stopping it ends the open event streams. */
export const createServer = (options: ServerOptions): Server => {
  const { sections, service, host, port } = options;
  const { log } = service;
  if (!isLoopbackAddress(host)) {
    throw new Error(`Not a loopback address: ${host}. Use 127.0.0.1 or ::1.`);
  }
  const hapi = server({ ...SETTINGS, host, port, listener: createListener() });
  answerUnparsed(hapi.listener, log);
  const heartbeatMs = options.heartbeatMs ?? 15_000;
  const streams: Streams = { open: new Set(), heartbeatMs, service, log };
  const routes = [...sections, openApiSection(options)].flatMap((section) => section.routes);
  hapi.ext(
    'onPreStop',
    serveUpgrades(hapi.listener, routes, service, () => Number(hapi.info.port)),
  );
  hapi.ext('onPreResponse', answerProblems(log));
  hapi.ext('onPreStop', () => {
    for (const stream of streams.open) stream.abort();
  });
  const where = readPathFinder(routes);
  const addAsked = addRoutesLazily(hapi, routes, (one) => hapiRoute(one, service, streams, where));
  guard(hapi, service, addAsked);
  if (options.console !== undefined) hapi.route(consoleRoutes(options.console, service));
  hapi.route(unknownRoute(hapi, addAsked));
  return hapi;
};

// Disables what the API does not use: hapi's cookies, compression, CORS and logs.
const SETTINGS = {
  compression: false,
  debug: false,
  routes: { state: { parse: false, failAction: 'ignore' } },
} as const;

const guard = (hapi: Server, service: Service, addAsked: (path: string) => void): void => {
  hapi.ext('onRequest', async ({ raw, path, app }, h) => {
    raw.res.setHeader('x-content-type-options', 'nosniff');
    raw.res.setHeader('x-frame-options', 'DENY');
    raw.res.setHeader(DAEMON_HEADER, '1');
    app.key = await readKey(raw.req.headers, Number(hapi.info.port), service);
    addAsked(path);
    return h.continue;
  });
};

// The document is generated at the first request and then kept.
const openApiSection = ({ sections, service }: ServerOptions): Section => {
  const made = lazy(() => {
    const document = openApi([...sections, section], EVENTS, service.version.version);
    const body = Buffer.from(JSON.stringify(document));
    return tagged<object>(body, createHash('sha256').update(body).digest('base64url'));
  });
  const openapi = route('GET /openapi.json', {
    operationId: 'getOpenApi',
    early: true,
    summary: 'Returns this OpenAPI document',
    response: Type.Object({}),
    handler: made,
  });
  const section: Section = {
    title: 'Description',
    description: 'The OpenAPI document of this API',
    routes: [openapi],
  };
  return section;
};

// Answers OPTIONS, known paths with another method, and unknown paths.
const unknownRoute = (hapi: Server, addAsked: (path: string) => void): ServerRoute => ({
  method: '*',
  path: '/{any*}',
  handler: ({ method, path }: Request, h: ResponseToolkit) => {
    const allow = allowed(hapi, path).join(', ');
    const asked = `${method.toUpperCase()} ${path}`;
    if (allow === '') {
      const near = alternativePath(path);
      addAsked(near);
      const isMeant = allowed(hapi, near).includes(method.toUpperCase());
      const hint = isMeant ? `, only ${method.toUpperCase()} ${near}` : '';
      const message = `There is no ${asked}${hint}. The endpoints are listed in /openapi.json.`;
      throw new ServiceError('route_not_found', message);
    }
    if (method === 'options') return h.response().code(204).header('allow', allow);
    const message = `${asked} does not exist. ${path} supports ${allow}.`;
    throw new ServiceError('method_not_allowed', message, { headers: { allow } });
  },
  options: { payload: { parse: false, output: 'data', override: 'application/octet-stream' } },
});

// Some paths of the interface begin with /api, so a caller may have it wrong.
const alternativePath = (path: string): string =>
  path.startsWith('/api/') ? path.slice('/api'.length) : `/api${path}`;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const allowed = (hapi: Server, path: string): string[] =>
  METHODS.filter((method) => hapi.match(method, path)?.method === method).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
