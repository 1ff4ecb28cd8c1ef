import { type TSchema, Type } from 'typebox';
import { type FieldError, notFound, ServiceError } from '../errors.ts';
import { readBody } from './body.ts';
import type { ApiKeyRef } from './local-only.ts';
import type { Headers, Input, Route } from './route.ts';
import {
  bodyIsOptional,
  bodySchema,
  type JsonSchema,
  paramsSchema,
  querySchema,
} from './schema.ts';
import { type CheckValue, checker, lazy } from './validation.ts';

/** The parts of a request, as hapi parsed them. */
export interface RequestParts {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  headers: Headers;
  payload: unknown;
  /** The valid API key of the request. */
  key?: ApiKeyRef | undefined;
}

type Read = (request: RequestParts) => Input<unknown, unknown, unknown>;

/**
 * Creates the reader of a route's input. Params and query are converted from text, a JSON body is not. The reader throws
 * `bad_request` with every invalid field, and `not_found` for an id that is not a UUID.
 */
export const inputReader = (route: Route): Read => {
  const readParams = textReader(() => paramsSchema(route));
  const readQuery = textReader(() => querySchema(route));
  const checkBody = bodyChecker(route);
  return ({ params, query, headers, payload, key }) => {
    const path = readParams(params);
    refuseParams(route, path.errors, params);
    refusePreconditions(route, headers);
    const asked = readQuery(query);
    const body = readBody(route, headers, payload);
    const errors = [...prefixed('query', asked.errors), ...checkBody(body)];
    if (errors.length > 0) throw invalidInput(errors);
    return {
      params: path.value,
      query: asked.value,
      body,
      ifMatch: ifMatch(headers['if-match']),
      key,
      headers,
    };
  };
};

const textReader = (schemaOf: () => JsonSchema) => {
  const schema = lazy(schemaOf);
  const check = checker(schema);
  const converted = lazy(() =>
    Object.entries(schema().properties ?? {}).filter(([, { type }]) => type !== 'string'),
  );
  return (text: Record<string, unknown>) => {
    const value = { ...text };
    for (const [key, form] of converted()) if (key in value) value[key] = convert(value[key], form);
    return { value, errors: check(value) };
  };
};

const NUMBER = /^-?\d+(\.\d+)?$/;

const convert = (value: unknown, schema: JsonSchema = {}): unknown => {
  if (schema.type === 'array') return splitList(value).map((one) => convert(one, schema.items));
  if (typeof value !== 'string') return value;
  if ((schema.type === 'integer' || schema.type === 'number') && NUMBER.test(value)) {
    return Number(value);
  }
  if (schema.type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
  return value;
};

/** A query parameter of several values: `?name=a,b`, or `?name=a&name=b`. */
export const commas = <T extends TSchema>(items: T, description: string) =>
  Type.Array(items, { minItems: 1, maxItems: 100, description });

const splitList = (value: unknown): unknown[] =>
  [value].flat().flatMap((one) => (typeof one === 'string' ? one.split(',') : one));

// An id that is not a UUID cannot exist, so it is a 404 like any other unknown id.
const refuseParams = (route: Route, errors: FieldError[], params: Record<string, unknown>) => {
  if (errors.length === 0) return;
  const properties = paramsSchema(route).properties ?? {};
  for (const { path } of errors) {
    const name = path.slice(1);
    if (properties[name]?.format === 'uuid') {
      const id = String(params[name]);
      throw notFound(resourceName(route.path, name), id, SHORT_ID.test(id) ? TAKES_WHOLE_IDS : '');
    }
  }
  throw invalidInput(prefixed('path', errors));
};

// As the commands print and take them.
const SHORT_ID = /^[0-9a-f]{8}$/;
const TAKES_WHOLE_IDS = 'The API takes full ids, not their beginnings. ';

const resourceName = (path: string, param: string): string => {
  const segments = path.split('/');
  const collection = segments[segments.indexOf(`{${param}}`) - 1] ?? '';
  if (param === 'case_id' || collection === 'cases') return 'Work item';
  return collection
    .replace(/ies$/, 'y')
    .replace(/s$/, '')
    .replaceAll('-', ' ')
    .replace(/^api/, 'API');
};

// A client that sends it with a write, such as `*` to overwrite nothing, must not believe that it was honoured.
const refusePreconditions = ({ method, conditional }: Route, headers: Headers): void => {
  if (method === 'GET') return;
  if (headers['if-match'] !== undefined && conditional !== true)
    throw new ServiceError(
      'bad_request',
      `This call does not support If-Match, so nothing was done. Send ${method} without it.`,
    );
  if (headers['if-none-match'] === undefined) return;
  const instead = conditional ? ', with If-Match to change only the version that you read' : '';
  throw new ServiceError(
    'bad_request',
    `If-None-Match is only for GET, so nothing was done. Send ${method} without it${instead}.`,
  );
};

const bodyChecker = (route: Route): CheckValue => {
  if (route.raw === true || route.upload === true) return () => [];
  const check = checker(() => bodySchema(route));
  const isOptional = bodyIsOptional(route);
  const sendIt = [
    { path: '', message: `is required: send ${route.consumes ?? 'application/json'}` },
  ];
  return (body) => {
    if (body !== undefined) return check(body);
    return isOptional ? [] : sendIt;
  };
};

const prefixed = (where: string, errors: FieldError[]): FieldError[] =>
  errors.map(({ path, message }) => ({ path: where + path, message }));

const invalidInput = (errors: FieldError[]): ServiceError => {
  const sentences = errors.map(({ path, message }) => `${path || 'The body'} ${message}`);
  return new ServiceError('bad_request', `${sentences.join('; ')}.`, { errors });
};

const ifMatch = (header: string | string[] | undefined): string | undefined => {
  if (typeof header !== 'string') return undefined;
  if (header.trim() === '*') return '*';
  const listed = header.split(',').filter((one) => one.trim() !== '');
  const tags = listed.map((one) => ENTITY_TAG.exec(one.trim()));
  if (tags.includes(null) || tags.length === 0)
    throw new ServiceError(
      'bad_request',
      `If-Match must be *, or ETags with commas between them, such as "1a2b", but it is ${header}. Send the ETag that you read.`,
    );
  // A weak tag says nothing about bytes, so it matches none (RFC 9110, 8.8.3.2).
  return tags.flatMap((tag) => (tag?.[1] === undefined ? (tag?.[2] ?? []) : [])).join(',');
};

// Quotes may be absent, as a shell removes them.
const ENTITY_TAG = /^(W\/)?"?([^"\s*]+)"?$/;
