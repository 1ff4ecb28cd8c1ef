import { isCreating } from './idempotency.ts';
import { type EventDoc, streamContent, webhook } from './openapi-events.ts';
import { descriptionOf, operationId } from './openapi-operation.ts';
import { failures, PROBLEM, problemTypes } from './openapi-problems.ts';
import type { Route, Section } from './route.ts';
import {
  bodyIsOptional,
  bodySchema,
  isCacheable,
  isDownload,
  isFile,
  isStream,
  type JsonSchema,
  paramsSchema,
  querySchema,
} from './schema.ts';

type Json = Record<string, unknown>;
type Components = { schemas: Json; responses: Json };

/**
 * The OpenAPI 3.1 document of these routes. The schemas that validate requests describe them, and the errors common to all
 * routes are added to those that a route declares. The same routes always give the same bytes.
 */
export const openApi = (
  sections: readonly Section[],
  events: readonly EventDoc[],
  version: string,
): Json => {
  const components = { ...shared(), schemas: { Problem: PROBLEM } as Json, responses: {} as Json };
  const paths: Record<string, Json> = {};
  for (const { title, routes } of sections) {
    for (const route of routes) {
      paths[route.path] ??= {};
      Object.assign(paths[route.path] as Json, {
        [route.method.toLowerCase()]: { tags: [title], ...operation(route, components) },
      });
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dossier',
      version,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This daemon' }],
    tags: sections.map(({ title, description }) => ({ name: title, description })),
    security: [{}, { key: [] }],
    paths,
    webhooks: Object.fromEntries(events.map((event) => [event.name, webhook(typed(event))])),
    components,
  };
};

const ABOUT = `AI coding work as Work items with evidence, on this machine only.

Every error is an RFC 9457 problem with a stable \`code\`; \`components/x-problems\` lists them all. Send the \`ETag\` of an
answer as \`If-None-Match\` to poll for changes, and as \`If-Match\` to protect a write. A write with \`If-None-Match\` is
refused with 400, and so is \`If-Match\` on a call that does not support it.`;

const operation = (route: Route, components: Components): Json => ({
  operationId: operationId(route),
  summary: route.summary,
  description: descriptionOf(route),
  ...(route.devOnly && { 'x-dev-only': true }),
  parameters: parameters(route, components.schemas),
  ...(route.body && { requestBody: requestBody(route, components.schemas) }),
  responses: { ...success(route, components.schemas), ...failures(route, components.responses) },
});

const parameters = (route: Route, schemas: Json): Json[] => [
  ...fields(paramsSchema(route), 'path', schemas),
  ...fields(querySchema(route), 'query', schemas),
  ...headerNames(route).map((name) => ({ $ref: `#/components/parameters/${name}` })),
];

const fields = (schema: JsonSchema, where: 'path' | 'query', schemas: Json): Json[] =>
  Object.entries(schema.properties ?? {}).map(([name, { description, ...field }]) => ({
    name,
    in: where,
    required: where === 'path' || (schema.required ?? []).includes(name),
    ...(description && { description }),
    schema: named(field, schemas),
  }));

const headerNames = (route: Route): string[] => {
  if (isStream(route)) return ['LastEventId'];
  if (isFile(route)) return ['IfNoneMatch', 'Range', 'IfRange'];
  if (isCacheable(route)) return ['IfNoneMatch'];
  if (isCreating(route)) return ['IdempotencyKey'];
  return route.conditional ? ['IfMatch'] : [];
};

const requestBody = (route: Route, schemas: Json): Json => ({
  required: !bodyIsOptional(route),
  content: {
    [route.upload ? '*/*' : (route.consumes ?? 'application/json')]: {
      schema: named(bodySchema(route), schemas),
    },
  },
});

const success = (route: Route, schemas: Json): Json => {
  if (route.socket !== undefined) return { 101: { description: 'The WebSocket is open' } };
  const status = route.status ?? (route.response || isStream(route) ? 200 : 204);
  const { orStatus } = route;
  return {
    [status]: successful(route, status, schemas),
    ...(orStatus && { [orStatus]: successful(route, orStatus, schemas) }),
    ...(isStream(route) && { 204: OVER }),
    ...(isFile(route) && { 206: partly(route, schemas) }),
    ...(isCacheable(route) && { 304: NOT_MODIFIED }),
  };
};

const successful = (route: Route, status: keyof typeof SUCCESS, schemas: Json): Json => {
  const content = answerContent(route, schemas);
  const hasBody = status === route.orStatus ? status < 202 : status !== 204;
  return {
    description: SUCCESS[status],
    headers: answerHeaders(route, status),
    ...(hasBody && content && { content }),
  };
};

const partly = (route: Route, schemas: Json): Json => ({
  description: 'The requested bytes',
  headers: { ...answerHeaders(route, 206), 'Content-Range': { schema: TEXT } },
  content: answerContent(route, schemas),
});

const SUCCESS = {
  200: 'Done',
  201: 'Created, at Location',
  202: 'Started; continues after this answer',
  204: 'Done, without content',
};

const OVER = { description: 'The stream has ended and you have all of it: do not reconnect' };
const NOT_MODIFIED = { description: 'Your version is current' };

const answerHeaders = (route: Route, status: number): Json => ({
  ...(status === 201 && { Location: { $ref: '#/components/headers/Location' } }),
  ...(route.response && !isDownload(route) && { ETag: { $ref: '#/components/headers/ETag' } }),
});

const answerContent = (route: Route, schemas: Json): Json | undefined => {
  if (route.stream !== undefined) return named(streamContent(route.stream), schemas) as Json;
  if (route.response === undefined) return undefined;
  const schema = named(route.response, schemas);
  return { [route.produces ?? 'application/json']: { schema } };
};

/** Moves each part of a schema that has an `$id` to the components, and refers to it. */
const named = (part: unknown, schemas: Json): unknown => {
  if (Array.isArray(part)) return part.map((one) => named(one, schemas));
  if (typeof part !== 'object' || part === null) return part;
  const { $id, ...rest } = withType(part as JsonSchema);
  const schema = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, named(value, schemas)]),
  );
  if ($id === undefined) return schema;
  schemas[$id] = schema;
  return { $ref: `#/components/schemas/${$id}` };
};

// Client generators need the `type` of an enum or constant, even though its values imply it.
const withType = (schema: JsonSchema): JsonSchema => {
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const [type, ...others] = new Set(Array.isArray(values) ? values.map(typeOf) : []);
  if (type === undefined || others.length > 0 || schema.type !== undefined) return schema;
  return { type, ...schema };
};

const typeOf = (value: unknown): string => (value === null ? 'null' : typeof value);

const shared = (): Json => ({
  parameters: {
    IdempotencyKey: header(
      'Idempotency-Key',
      'A unique key of your choice, such as a UUID. If the request is sent again within 24 hours, it is not executed again: the first response is repeated, with `Idempotent-Replayed: true`',
    ),
    IfMatch: header(
      'If-Match',
      'The ETag that you read, several with commas, or `*` for a file that exists: 412 if the file has changed since',
    ),
    IfNoneMatch: header('If-None-Match', 'The ETag of your version: 304 if it is current'),
    Range: header(
      'Range',
      'The requested bytes, such as `bytes=0-1023`. With several ranges the whole file is sent',
    ),
    IfRange: header(
      'If-Range',
      'The ETag of your partial file: the whole file is sent if it has changed',
    ),
    LastEventId: header(
      'Last-Event-ID',
      'The id of the last event that you received: the stream continues after it',
    ),
  },
  headers: {
    ETag: {
      description:
        'The version of the returned resource. Actions whose answer has none leave it out',
      schema: TEXT,
    },
    Location: { description: 'The path of the new resource', schema: TEXT },
  },
  securitySchemes: {
    key: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key. Usually not needed from this machine',
    },
  },
  'x-problems': problemTypes(),
});

const typed = (event: EventDoc): EventDoc => ({
  ...event,
  payload: named(event.payload, {}) as EventDoc['payload'],
});

const TEXT = { type: 'string' };

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  description,
  schema: TEXT,
});
