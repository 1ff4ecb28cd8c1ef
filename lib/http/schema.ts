import { type TSchema, Type } from 'typebox';
import type { Route } from './route.ts';

/** The keywords of JSON Schema that this layer reads. */
export interface JsonSchema {
  $id?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
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
      'Start after the event with this id. A negative number counts from the end: -200 starts with the last 200 events',
  }),
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'The largest number of events in the JSON array; default: all',
  }),
};

/** The schema of the path parameters. Here and below, objects are closed: an unknown field is an error. */
export const paramsSchema = (route: Route): JsonSchema => closed(route.params ?? NOTHING);

export const querySchema = (route: Route): JsonSchema => {
  const schema = closed(route.query ?? NOTHING);
  if (!isStream(route)) return schema;
  return { ...schema, properties: { ...STREAM_QUERY, ...schema.properties } };
};

export const bodySchema = (route: Route): JsonSchema => closed(route.body ?? NOTHING);

export const bodyIsOptional = (route: Route): boolean =>
  route.body === undefined || Type.IsOptional(route.body);

export const isStream = (route: Route): boolean => route.stream !== undefined;

/** Whether the answer is a generated file without an ETag. */
export const isDownload = ({ produces }: Route): boolean =>
  produces === 'application/zip' || produces === 'application/x-ndjson';

/** Whether the answer is a stored file, which supports ranges. */
export const isFile = (route: Route): boolean => route.produces === 'application/octet-stream';

/** Whether the answer has an ETag and supports If-None-Match. */
export const isCacheable = (route: Route): boolean =>
  route.method === 'GET' && route.response !== undefined && !isStream(route) && !isDownload(route);

const closed = (schema: TSchema | JsonSchema): JsonSchema => {
  // Copies non-enumerable properties too: typebox keeps refinements in them.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)) as JsonSchema;
  if (copy.properties !== undefined) {
    copy.properties = mapValues(copy.properties, closed);
    copy.additionalProperties ??= false;
  }
  if (copy.items !== undefined) copy.items = closed(copy.items);
  if (copy.anyOf !== undefined) copy.anyOf = copy.anyOf.map(closed);
  // A closed schema differs from the one that its name stands for in answers.
  if (JSON.stringify(copy) !== JSON.stringify(schema)) delete copy.$id;
  return copy;
};

const mapValues = <A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
