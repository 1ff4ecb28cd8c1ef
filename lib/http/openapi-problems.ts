import { ERRORS, type ErrorCode } from '../errors.ts';
import { isCreating } from './idempotency.ts';
import { problemType } from './problem.ts';
import type { Route } from './route.ts';
import { paramsSchema } from './schema.ts';

type Json = Record<string, unknown>;

/** The problems that a route can answer: those it declares, and those of every route of its kind. */
export const failures = (route: Route, responses: Json): Json => {
  const byStatus: Record<number, ErrorCode[]> = {};
  for (const code of possibleErrors(route)) {
    const { status } = ERRORS[code];
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [status, failure(codes, responses)]),
  );
};

/** In the order of the table, without duplicates. */
const possibleErrors = (route: Route): ErrorCode[] => {
  const possible = new Set<ErrorCode>([
    ...ALWAYS,
    ...(takesIds(route) ? (['not_found'] as const) : []),
    ...(route.method === 'GET' ? [] : errorsOfWrite(route)),
    ...(route.conditional && route.method !== 'GET' ? (['precondition_failed'] as const) : []),
    ...(isCreating(route) ? ONCE : []),
    ...(route.anyone ? [] : (['not_operator'] as const)),
    ...(route.devOnly ? (['route_not_found'] as const) : []),
    ...(route.errors ?? []),
  ]);
  return CODES.filter((code) => possible.has(code));
};

const takesIds = (route: Route): boolean =>
  Object.values(paramsSchema(route).properties ?? {}).some(({ format }) => format === 'uuid');

const errorsOfWrite = (route: Route): ErrorCode[] => [
  // Also without a declared body: one that is sent is read.
  ...BODY,
  ...WRITE,
  // What is written to may be moved or edited by hand meanwhile.
  ...(takesIds(route) ? (['file_busy'] as const) : []),
];

const CODES = Object.keys(ERRORS) as ErrorCode[];
const ALWAYS = [
  'bad_request',
  'unauthorized',
  'not_local',
  'internal',
  'unavailable',
  'disk_failed',
  'access_denied',
] as const;
const BODY = ['request_timeout', 'too_large', 'unsupported_media_type'] as const;
const ONCE = ['idempotency_in_use', 'idempotency_mismatch'] as const;
const WRITE = ['read_only', 'may_be_written', 'disk_full'] as const;

// Most routes share their set of codes with others, so each set is described once.
const failure = (codes: ErrorCode[], responses: Json): Json => {
  const name = codes.join('-or-');
  responses[name] ??= {
    description: codes.map((code) => ERRORS[code].title).join(', or '),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Problem' },
            { properties: { code: { type: 'string', enum: codes } } },
          ],
        },
      },
    },
  };
  return { $ref: `#/components/responses/${name}` };
};

/** Every code of the table, where the `type` of a problem points to. */
export const problemTypes = (): Json =>
  Object.fromEntries(CODES.map((code) => [code, { type: problemType(code), ...ERRORS[code] }]));

export const PROBLEM = {
  type: 'object',
  description: 'A problem document (RFC 9457). Some problems have further members.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened and what to do next' },
    code: {
      type: 'string',
      enum: CODES,
      description: 'Stable identifier of the error, for programs',
    },
    read: {
      type: 'string',
      description:
        'For `may_be_written`: the path of the GET that shows whether the change was written',
    },
    errors: {
      type: 'array',
      description: 'The invalid fields of the input',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', examples: ['/title', 'query/limit', 'path/filename'] },
          message: { type: 'string', examples: ['is required'] },
        },
      },
    },
  },
};
