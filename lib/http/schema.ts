import { type TSchema, Type } from 'typebox';
import type { Route } from './route.ts';

/** A schema as plain JSON Schema, as far as this layer reads it. */
export interface JsonSchema {
  $id?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[] | undefined;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  additionalProperties?: boolean | JsonSchema;
}

const NOTHING = Type.Object({});
const STREAM_QUERY: Record<string, TSchema> = {
  after: Type.Integer({
    minimum: -1000,
    description:
      'Only what came after the event with this number. -200: the last 200, as they are this moment',
  }),
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'Of the JSON array: how many events at most; all when not given',
  }),
};

/** What the route takes, with every object closed: a field that no schema names is an error, not a wish ignored. */
export const paramsSchema = (route: Route): JsonSchema => closed(route.params ?? NOTHING);

export const querySchema = (route: Route): JsonSchema => {
  const schema = closed(route.query ?? NOTHING);
  if (!isStream(route)) return schema;
  return { ...schema, properties: { ...STREAM_QUERY, ...schema.properties } };
};

export const bodySchema = (route: Route): JsonSchema => closed(route.body ?? NOTHING);

export const bodyIsOptional = (route: Route): boolean =>
  route.body === undefined || Type.IsOptional(route.body);

export const isStream = (route: Route): boolean => route.produces === 'text/event-stream';

/** Whether the answer is a file that is made anew each time, and has no ETag. */
export const isDownload = (route: Route): boolean => route.produces === 'application/zip';

/** Whether the answer is a file as it is kept: of one, some of its bytes may be asked for. */
export const isFile = (route: Route): boolean => route.produces === 'application/octet-stream';

/** Whether the answer has an ETag, and a reader who has it already is told so. */
export const isCacheable = (route: Route): boolean =>
  route.method === 'GET' && route.response !== undefined && !isStream(route) && !isDownload(route);

const closed = (schema: TSchema | JsonSchema): JsonSchema => {
  // With the hidden properties, for typebox keeps refinements in them.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)) as JsonSchema;
  if (copy.properties !== undefined) {
    copy.properties = mapValues(copy.properties, closed);
    copy.additionalProperties ??= false;
  }
  if (copy.items !== undefined) copy.items = closed(copy.items);
  if (copy.anyOf !== undefined) copy.anyOf = copy.anyOf.map(closed);
  // Once closed it is not what its name stands for in answers.
  if (JSON.stringify(copy) !== JSON.stringify(schema)) delete copy.$id;
  return copy;
};

const mapValues = <A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
