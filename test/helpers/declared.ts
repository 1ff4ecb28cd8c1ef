import assert from 'node:assert/strict';
import { Compile } from 'typebox/compile';
import { openApi } from '../../lib/http/openapi.ts';
import type { Route } from '../../lib/http/route.ts';
import type { JsonSchema } from '../../lib/http/schema.ts';
import { sections } from '../../routes/index.ts';

interface Given {
  method: string;
  /** The route's, as it is declared. */
  path: string;
  status: number;
  type: string;
  body: unknown;
}

interface Operation {
  responses: Record<string, { $ref?: string; content?: Record<string, unknown> }>;
}

/** Fails where a route answers with a status, a code or a form that the OpenAPI document does not tell of it. */
export const assertDeclared = ({ method, path, status, type, body }: Given): void => {
  const route = ROUTES.get(`${method} ${path}`);
  if (route === undefined) return;
  const where = `${method} ${path}: ${status}`;
  const operation = paths[path]?.[method.toLowerCase()];
  const answer = operation?.responses[status];
  assert.ok(answer, `${where} is not declared: ${JSON.stringify(body)?.slice(0, 500)}`);
  if (type.startsWith('application/problem+json')) {
    const { code } = body as { code: string };
    const [, codes = ''] = answer.$ref?.split('/responses/') ?? [];
    assert.ok(codes.split('-or-').includes(code), `${where} ${code} is not declared`);
  } else if (route.stream !== undefined) {
    assertEvents(path, body as Told[]);
  } else if (type.startsWith('application/json') && route.response !== undefined) {
    const [first] = errorsOf(route, body);
    assert.ok(first === undefined, `${where} is not as declared: ${JSON.stringify(first)}`);
  }
};

/** Fails at the first event that the OpenAPI document does not describe as it is, of the stream at that path. */
export const assertEvents = (path: string, events: readonly Told[]): void => {
  const form = FORMS.find(({ at }) => at.test(path));
  for (const event of events) {
    const validator = form?.events.get(event.event)?.();
    assert.ok(form === undefined || validator, `${path}: ${event.event} is not declared`);
    const [first] = validator?.Check(event) === false ? validator.Errors(event) : [];
    assert.ok(
      first === undefined,
      `${path}: not as declared: ${JSON.stringify({ first, event })?.slice(0, 2000)}`,
    );
  }
};

interface Told {
  id: number;
  event: string;
  data: unknown;
}

const { paths } = openApi(sections, [], '0.0.0') as {
  paths: Record<string, Record<string, Operation>>;
};

const ROUTES = new Map(
  sections.flatMap(({ routes }) => routes.map((one) => [`${one.method} ${one.path}`, one])),
);

const validators = new Map<Route, ReturnType<typeof Compile>>();

const errorsOf = (route: Route, body: unknown) => {
  const { response } = route;
  if (response === undefined) return [];
  const validator = validators.get(route) ?? Compile(response);
  validators.set(route, validator);
  return validator.Check(body) ? [] : validator.Errors(body);
};

// Closed: a field that the document does not tell of is none that anybody may find.
const closed = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  ...(schema.properties !== undefined && {
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([name, each]) => [name, closed(each)]),
    ),
  }),
  ...(schema.items !== undefined && { items: closed(schema.items) }),
  ...(schema.anyOf !== undefined && { anyOf: schema.anyOf.map(closed) }),
});

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

const FORMS = [...ROUTES.values()].flatMap(({ path, stream }) => {
  if (stream === undefined) return [];
  const { oneOf } = stream.event as { oneOf: (JsonSchema & { title: string })[] };
  const at = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  return [
    { at, events: new Map(oneOf.map((one) => [one.title, once(() => Compile(closed(one)))])) },
  ];
});
