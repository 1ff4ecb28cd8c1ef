import assert from 'node:assert/strict';
import { Compile } from 'typebox/compile';
import { openApi } from '../../lib/http/openapi.ts';
import type { Route } from '../../lib/http/route.ts';
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
  } else if (type.startsWith('application/json') && route.response !== undefined) {
    const [first] = errorsOf(route, body);
    assert.ok(first === undefined, `${where} is not as declared: ${JSON.stringify(first)}`);
  }
};

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
