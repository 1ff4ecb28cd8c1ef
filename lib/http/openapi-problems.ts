import { ERRORS, type ErrorCode } from '../errors.ts';
import { isCreating } from './idempotency.ts';
import { problemType } from './problem.ts';
import type { Route } from './route.ts';
import { paramsSchema } from './schema.ts';

type Json = Record<string, unknown>;

/** The problems a route can answer: those it names, and those any route of its kind has. */
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

/** In the table's order, each once. */
const possibleErrors = (route: Route): ErrorCode[] => {
  const takesIds = Object.values(paramsSchema(route).properties ?? {}).some(
    ({ format }) => format === 'uuid',
  );
  const possible = new Set<ErrorCode>([
    ...ALWAYS,
    ...(takesIds ? (['not_found'] as const) : []),
    ...(route.body ? BODY : []),
    ...(route.method === 'GET' ? [] : WRITE),
    ...(route.conditional && route.method !== 'GET' ? (['precondition_failed'] as const) : []),
    ...(isCreating(route) ? ONCE : []),
    ...(route.anyone ? [] : (['not_operator'] as const)),
    ...(route.devOnly ? (['route_not_found'] as const) : []),
    ...(route.errors ?? []),
  ]);
  return CODES.filter((code) => possible.has(code));
};

const CODES = Object.keys(ERRORS) as ErrorCode[];
const ALWAYS = [
  ...(['bad_request', 'unauthorized', 'not_local', 'internal'] as const),
  ...(['unavailable', 'disk_failed', 'access_denied'] as const),
];
const BODY = ['request_timeout', 'too_large', 'unsupported_media_type'] as const;
const ONCE = ['idempotency_in_use', 'idempotency_mismatch'] as const;
const WRITE = ['read_only', 'may_be_written', 'disk_full'] as const;

// Each set of codes is described once: most routes share theirs.
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

/** Every code of the table: what the `type` of a problem points to. */
export const problemTypes = (): Json =>
  Object.fromEntries(CODES.map((code) => [code, { type: problemType(code), ...ERRORS[code] }]));

export const PROBLEM = {
  type: 'object',
  description: 'RFC 9457. Some problems have further members, such as what is missing.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened and what to do next' },
    code: { type: 'string', enum: CODES, description: 'Stable: programs go by it' },
    read: {
      type: 'string',
      description: 'Of `may_be_written`: the path of the GET that shows whether it is',
    },
    errors: {
      type: 'array',
      description: 'What is wrong with the input, place by place',
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
