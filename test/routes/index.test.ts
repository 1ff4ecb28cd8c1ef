import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openApi } from '../../lib/http/openapi.ts';
import type { Route } from '../../lib/http/route.ts';
import { sections } from '../../routes/index.ts';
import { assertEvents } from '../helpers/declared.ts';

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  responses: object;
}

const document = openApi(sections, [], '1.0.0') as {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: object };
};
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const NO_USAGE = { input_tokens: null, output_tokens: null, cost_usd: null };
const names = operations.map(({ operationId }) => operationId);

type Taking = Pick<Route, 'path' | 'params'>;

// Where an id is taken, no word is.
const wordsIn = ({ path, params }: Taking): string[] =>
  path.split('/').map((word) => {
    const { properties = {} } = (params ?? {}) as { properties?: Record<string, object> };
    const taken = properties[word.slice(1, -1)] ?? {};
    return 'format' in taken && taken.format === 'uuid' ? UUID : word;
  });
const UUID = 'id';

/** Neither is the more exact one: each has a parameter where the other has a word. */
const overlap = (one: Taking, other: Taking): boolean => {
  const [a, b] = [one, other].map(wordsIn) as [string[], string[]];
  const isAny = (word = ''): boolean => word.startsWith('{');
  if (
    a.length !== b.length ||
    a.some((word, at) => !isAny(word) && !isAny(b[at]) && word !== b[at])
  )
    return false;
  const wider = a.map((word, at) => Number(isAny(word)) - Number(isAny(b[at])));
  return wider.includes(1) && wider.includes(-1);
};

describe('the whole API', () => {
  it('makes a valid OpenAPI document', async () => {
    const document = JSON.parse(JSON.stringify(openApi(sections, [], '1.0.0')));
    const { valid, errors } = await new Validator().validate(document);
    assert.deepEqual({ valid, errors: errors ?? [] }, { valid: true, errors: [] });
  });

  // What redocly and spectral found.
  it('groups every operation under a tag that is described, and says which errors it has', () => {
    const tags = new Map(document.tags.map(({ name, description }) => [name, description]));
    assert.equal(tags.size, sections.length);
    for (const description of tags.values()) assert.match(description, /^[A-Z].{10,}[^.]$/);
    for (const { operationId: name, tags: of, summary, description, responses } of operations) {
      assert.match(description, /^.{10,}[.:)]$/s, name);
      assert.ok(!description.includes(summary), name);
      assert.equal(of.length, 1);
      assert.ok(tags.has(of[0] ?? ''), name);
      assert.match(summary, /^[A-Z].*[^.]$/, name);
      const statuses = Object.keys(responses);
      assert.ok(
        statuses.some((status) => status.startsWith('4')),
        name,
      );
      assert.ok(
        statuses.includes('101') || statuses.some((status) => status.startsWith('2')),
        name,
      );
    }
  });

  it('has no schema that nothing refers to', () => {
    const text = JSON.stringify(document);
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`#/components/schemas/${name}"`),
    );
    assert.deepEqual(unused, []);
  });

  it('names operations by a verb, once, and what it is done to', () => {
    for (const name of names) assert.match(name, /^[a-z]+(?:[A-Z][a-z]+)+$/);
    const twice = /^(?:create|put|get|update).*(?:Create|Update|Attach|Lock|Queue|Restore|Verify)$/;
    assert.deepEqual(
      names.filter((name) => twice.test(name) && !/^get\w+(?:Update|Lock)$/.test(name)),
      [],
    );
  });

  it("describes each event of a session's stream, and the tests see what is another", () => {
    const path = '/cases/1/sessions/2/stream';
    const at = '2026-01-01T00:00:00.000Z';
    const of = (event: string, data: object) => () => assertEvents(path, [{ id: 1, event, data }]);
    of('block_skipped', { tool_call_id: 'block-1', title: 'true', at })();
    assert.throws(of('block_skipped', { tool_call_id: 'block-1', at }), /title/);
    assert.throws(of('usage', { ...NO_USAGE, at_leased: true, at }), /at_leased/);
    assert.throws(of('agent_status', { at }), /not declared/);
  });

  it('has no request that two paths would take', () => {
    const both = sections.flatMap(({ routes }) => routes);
    const clashes = both.flatMap((one) =>
      both
        .filter((other) => one !== other && one.method === other.method && overlap(one, other))
        .map(({ method, path }) => `${method} ${one.path} ${path}`),
    );
    assert.deepEqual(clashes, []);
  });

  it('gives every operation a name of its own', () => {
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });
});
