import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { document, type Operation, SECTIONS } from './surface.ts';

const HERE = fileURLToPath(new URL('../../../../test/routes/surface', import.meta.url));

/** How many the interface document has, and those that the console asked for besides. */
const ENDPOINTS = 124 + 9;

describe('the sections of the interface', () => {
  it('have a file each, and together each row', () => {
    const sections = readdirSync(HERE).flatMap(
      (name) => /^((?!surface)[^.]+)\.ts$/.exec(name)?.[1] ?? [],
    );
    assert.deepEqual(sections.toSorted(), [...Object.keys(SECTIONS), 'openapi'].toSorted());
    const rows = Object.values(SECTIONS).reduce((sum, each) => sum + each, 0);
    assert.equal(rows, ENDPOINTS);
  });
});

describe('GET /openapi.json', () => {
  const operations = async (): Promise<[string, Operation][]> =>
    Object.entries((await document()).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method} ${path}`,
        operation,
      ]),
    );

  it('gives every operation a summary, a success, and the problems it can answer', async () => {
    const { components } = await document();
    for (const [name, { summary, responses }] of await operations()) {
      assert.match(summary ?? '', /^[A-Z].{8,}[^.]$/, name);
      const statuses = Object.keys(responses);
      assert.ok(
        statuses.some((status) => status.startsWith('2') || status === '101'),
        name,
      );
      for (const status of ['400', '401', '403', '500'])
        assert.ok(statuses.includes(status), `${name} ${status}`);
      for (const status of statuses.filter((each) => each >= '400')) {
        const reference = responses[status]?.$ref?.split('/').at(-1) ?? '';
        const content = components.responses[reference]?.content['application/problem+json'];
        assert.match(
          JSON.stringify(content),
          /#\/components\/schemas\/Problem/,
          `${name} ${status}`,
        );
      }
    }
    assert.ok(components.schemas.Problem);
  });

  it('describes every parameter of a path', async () => {
    for (const [name, { parameters = [] }] of await operations()) {
      const wanted = [...name.matchAll(/\{([a-z_]+)\}/g)].map(([, each]) => each);
      const found = parameters.filter((each) => each.in === 'path').map((each) => each.name);
      assert.deepEqual(found.toSorted(), wanted.toSorted(), name);
    }
  });

  it('leads nowhere that is not in it', async () => {
    const text = JSON.stringify(await document());
    const whole = JSON.parse(text) as Record<string, unknown>;
    for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = path
        .split('/')
        .reduce<unknown>(
          (part, step) => (part as Record<string, unknown> | undefined)?.[step],
          whole,
        );
      assert.ok(found, path);
    }
  });
});
