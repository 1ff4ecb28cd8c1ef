/** A call of every operation that the daemon has, as one who knows the workspace would make it. */
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import type { Route } from '../../lib/http/route.ts';
import { operatorConsole } from '../../routes/console/console.ts';
import { sections } from '../../routes/index.ts';

/** A request as `CALL_ALL` makes it. */
export interface Call {
  method: string;
  path: string;
  body?: string;
  type?: string;
  /** It asks for a WebSocket. */
  upgrade?: boolean;
  /** Anybody may make it. */
  open: boolean;
}

/** The values of a path's parameters: by the path up to the parameter, else by its name. */
export type Known = Record<string, string>;

/** Every operation of the API, what a browser is shown, and what is of no section. */
export const everyCall = (known: Known): Call[] => {
  const routes = sections.flatMap((section) => section.routes);
  const api = routes.map((route) => callOf(route, known));
  const pages = operatorConsole.pages.map(({ method, path }) => ({
    ...{ method, path: filled(path, known), open: false },
    ...(method === 'POST' && { body: 'name=mine&key=x&form_key=x', type: FORM }),
  }));
  const rest = [
    { method: 'GET', path: '/openapi.json', open: false },
    { method: 'HEAD', path: filled('/cases/{id}', known), open: false },
  ];
  return [...api, ...pages, ...rest];
};

const FORM = 'application/x-www-form-urlencoded';

const callOf = (route: Route, known: Known): Call => {
  const { method, body, query, consumes = 'application/json', socket, anyone = false } = route;
  const asked =
    query === undefined ? '' : `?${new URLSearchParams(sampleOf(query) as Record<string, string>)}`;
  const sample = body === undefined ? undefined : sampleOf(body);
  const text = typeof sample === 'string' ? sample : JSON.stringify(sample);
  return {
    ...{ method, path: `${filled(route.path, known)}${asked}`, open: anyone },
    ...(text !== undefined && { body: text, type: consumes }),
    ...(socket !== undefined && { upgrade: true }),
  };
};

const filled = (path: string, known: Known): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string, at: number) => {
    const value = known[path.slice(0, at)] ?? known[name];
    if (value === undefined) throw new Error(`Nothing is known for {${name}} of ${path}.`);
    return value;
  });

type Shape = TSchema & {
  const?: unknown;
  anyOf?: Shape[];
  items?: Shape;
  minItems?: number;
  minimum?: number;
  properties?: Record<string, Shape>;
  required?: string[];
};

/** The smallest value that a schema takes: what has to be there, and of what may be one thing or another the first. */
const sampleOf = (schema: TSchema): unknown => {
  const {
    anyOf,
    items,
    minItems = 0,
    minimum,
    properties,
    required = [],
    ...rest
  } = schema as Shape;
  if (rest.const !== undefined) return rest.const;
  const [first] = anyOf ?? [];
  if (first !== undefined) return sampleOf(first);
  if (properties !== undefined)
    return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
  if (items !== undefined) return Array.from({ length: minItems }, () => sampleOf(items));
  return [...WORDS, minimum, 1, true, {}].find((value) => Check(schema, value)) ?? {};
};

const WORDS = [
  'example',
  'typescript',
  'notes.md',
  'https://example.org/hook',
  'echo it ran',
  '2026-01-01T00:00:00Z',
  '11111111-1111-4111-8111-111111111111',
];

/** A program for Node: the URL, a file with calls, and one for the answers, which are there once all are made. */
export const CALL_ALL = `
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
const [url, from, to] = process.argv.slice(2);
const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==' };
const make = ({ method, path, body, type, upgrade }) => new Promise((resolve) => {
  const headers = { connection: 'close', ...(body !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(body) }), ...(upgrade && UPGRADE) };
  const call = request(url + path, { method, headers });
  call.on('upgrade', (answer, socket) => { socket.destroy(); resolve('101'); });
  call.on('error', (error) => resolve(error.code));
  call.on('response', (answer) => {
    // What goes on for ever has answered by its head.
    if (String(answer.headers['content-type']).includes('event-stream')) { answer.destroy(); return resolve(String(answer.statusCode)); }
    let text = '';
    answer.on('data', (chunk) => { text += chunk; });
    answer.on('close', () => resolve((answer.statusCode + ' ' + (/"code":"(\\w+)"/.exec(text)?.[1] ?? '')).trim()));
  });
  call.end(body);
});
const answers = [];
for (const call of JSON.parse(readFileSync(from, 'utf8'))) answers.push(await make(call));
writeFileSync(to + '.new', JSON.stringify(answers));
renameSync(to + '.new', to);
`;
