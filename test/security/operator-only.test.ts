/** The API is the operator's: what anybody may call says so itself. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openApi } from '../../lib/http/openapi.ts';
import { sections } from '../../routes/index.ts';

const routes = sections.flatMap((section) => section.routes);

describe('a route', () => {
  it('is the operator’s alone unless it opts out, as three do', () => {
    const open = routes.filter(({ anyone }) => anyone === true);
    assert.deepEqual(open.map(({ method, path }) => `${method} ${path}`).toSorted(), [
      'GET /health',
      'GET /version',
      'POST /api/codehost/webhook',
    ]);
  });

  it('declares not_operator unless it opts out', () => {
    const document = openApi(sections, [], '1.0.0') as {
      paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
    };
    const undeclared = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { responses }]) => !responses['403']?.$ref?.includes('not_operator'))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
    assert.deepEqual(undeclared.toSorted(), [
      'GET /health',
      'GET /version',
      'POST /api/codehost/webhook',
    ]);
  });
});
