import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Type } from 'typebox';
import { ERRORS } from '../../../lib/errors.ts';
import { openApi } from '../../../lib/http/openapi.ts';
import { route, type Section } from '../../../lib/http/route.ts';
import { json, serverOf } from './serve.ts';

const Id = Type.String({ format: 'uuid', description: 'Of the Work item' });
const State = Type.Enum(['OPEN', 'BLOCKED'], { $id: 'State' });
const Case = Type.Object({ id: Id, state: State }, { $id: 'Case' });
const never = () => assert.fail('only described');

const sections: Section[] = [
  {
    title: 'Work items',
    description: 'The units of work',
    routes: [
      route('GET /cases', {
        summary: 'List the Work items',
        query: Type.Object({ state: Type.Optional(State), limit: Type.Integer() }),
        response: Type.Array(Case),
        handler: never,
      }),
      route('POST /cases', {
        summary: 'Create a Work item',
        body: Type.Object({ title: Type.String() }),
        response: Case,
        status: 201,
        errors: ['lock_held', 'already_exists'],
        handler: never,
      }),
      route('DELETE /cases/{id}', {
        summary: 'Delete a Work item',
        params: { id: Id },
        conditional: true,
        handler: never,
      }),
    ],
  },
  {
    title: 'Sessions',
    description: 'Attempts at them',
    routes: [
      route('POST /cases/{id}/approve', {
        summary: 'Approve',
        description: 'The *gate*.',
        body: Type.Optional(Type.Object({ sha: Type.String() })),
        response: Case,
        handler: never,
      }),
      route('GET /cases/{id}/stream', {
        summary: 'Stream',
        stream: { text: 'Its events', event: { type: 'object' } },
        handler: never,
      }),
      route('PUT /cases/{id}/notes', {
        operationId: 'writeNotes',
        summary: 'Write',
        consumes: 'text/markdown',
        body: Type.String(),
        produces: 'text/markdown',
        response: Type.String(),
        handler: never,
      }),
    ],
  },
];

const events = [
  {
    name: 'case_updated',
    summary: 'A Work item was updated',
    payload: Type.Object({ case_id: Id }),
  },
];

// biome-ignore lint/suspicious/noExplicitAny: a document is read here by paths that the assertions spell out.
const document = openApi(sections, events, '1.2.3') as any;
const { paths, components, webhooks } = document;
const names = (of: { name?: string; $ref?: string }[]) => of.map((one) => one.name ?? one.$ref);

describe('openApi', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    assert.deepEqual(result.errors ?? [], []);
    assert.equal(result.valid, true);
    assert.equal(document.info.version, '1.2.3');
  });

  it('says the same of the same routes', () => {
    assert.equal(JSON.stringify(openApi(sections, events, '1.2.3')), JSON.stringify(document));
  });

  it('resolves every reference in it', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)];
    assert.ok(references.length > 20);
    for (const [, path = ''] of references) {
      const found = path.split('/').reduce((part, step) => part?.[step], document);
      assert.ok(found !== undefined, path);
    }
  });

  it('groups operations by section and names each', () => {
    assert.deepEqual(document.tags, [
      { name: 'Work items', description: 'The units of work' },
      { name: 'Sessions', description: 'Attempts at them' },
    ]);
    assert.deepEqual(paths['/cases'].post.tags, ['Work items']);
    const ids = Object.values(paths).flatMap((path) =>
      Object.values(path as Record<string, { operationId: string }>).map((one) => one.operationId),
    );
    assert.deepEqual(ids, [
      'listCases',
      'createCase',
      'deleteCase',
      'approveCase',
      'getCaseStream',
      'writeNotes',
    ]);
  });

  it('gives every enum and constant its type', () => {
    const { State: named } = components.schemas;
    assert.deepEqual(named, { type: 'string', enum: ['OPEN', 'BLOCKED'] });
    const [, ...rest] = JSON.stringify(document).split(/"(?:enum|const)":/);
    assert.ok(rest.length > 0);
    const untyped = (part: unknown): unknown[] => {
      if (typeof part !== 'object' || part === null) return [];
      const isBare = ('enum' in part || 'const' in part) && !('type' in part);
      return [...(isBare ? [part] : []), ...Object.values(part).flatMap(untyped)];
    };
    assert.deepEqual(untyped(document), []);
  });

  it('describes path, query and header parameters', () => {
    assert.deepEqual(paths['/cases'].get.parameters.slice(0, 2), [
      {
        name: 'state',
        in: 'query',
        required: false,
        schema: { $ref: '#/components/schemas/State' },
      },
      { name: 'limit', in: 'query', required: true, schema: { type: 'integer' } },
    ]);
    assert.deepEqual(names(paths['/cases/{id}'].delete.parameters), [
      'id',
      '#/components/parameters/IfMatch',
    ]);
    assert.equal(paths['/cases/{id}'].delete.parameters[0].description, 'Of the Work item');
    assert.equal(paths['/cases/{id}/approve'].post.parameters[0].schema.format, 'uuid');
    assert.deepEqual(names(paths['/cases/{id}/stream'].get.parameters), [
      'id',
      'after',
      'limit',
      '#/components/parameters/LastEventId',
    ]);
  });

  it('describes bodies as they are checked: closed', () => {
    const { requestBody } = paths['/cases'].post;
    assert.equal(requestBody.required, true);
    assert.equal(requestBody.content['application/json'].schema.additionalProperties, false);
    assert.equal(paths['/cases/{id}/approve'].post.requestBody.required, false);
    assert.ok(paths['/cases/{id}/notes'].put.requestBody.content['text/markdown']);
  });

  it('describes answers with their headers, and each named schema once', () => {
    const { responses } = paths['/cases'].post;
    assert.deepEqual(Object.keys(responses['201'].headers), ['Location', 'ETag']);
    assert.deepEqual(responses['201'].content['application/json'].schema, {
      $ref: '#/components/schemas/Case',
    });
    assert.deepEqual(components.schemas.Case.properties.state, {
      $ref: '#/components/schemas/State',
    });
    assert.ok(paths['/cases'].get.responses['304']);
    assert.equal(paths['/cases/{id}'].delete.responses['204'].content, undefined);
    const stream = paths['/cases/{id}/stream'].get.responses['200'].content;
    assert.deepEqual(Object.keys(stream), ['text/event-stream', 'application/json']);
  });

  const codesOf = (operation: { responses: Record<string, { $ref?: string }> }) =>
    Object.entries(operation.responses).flatMap(
      ([, { $ref }]) => $ref?.split('/').at(-1)?.split('-or-') ?? [],
    );

  it('describes the errors a route names and those that any route of its kind has', () => {
    assert.deepEqual(codesOf(paths['/cases'].post), [
      'bad_request',
      'unauthorized',
      'not_operator',
      'not_local',
      'request_timeout',
      'already_exists',
      'lock_held',
      'idempotency_in_use',
      'too_large',
      'unsupported_media_type',
      'idempotency_mismatch',
      'internal',
      'unavailable',
      'read_only',
      'disk_failed',
      'may_be_written',
      'access_denied',
      'disk_full',
    ]);
    assert.deepEqual(codesOf(paths['/cases/{id}/stream'].get), [
      'bad_request',
      'unauthorized',
      'not_operator',
      'not_local',
      'not_found',
      'internal',
      'unavailable',
      'disk_failed',
      'access_denied',
    ]);
    assert.ok(codesOf(paths['/cases/{id}'].delete).includes('precondition_failed'));
    // A write without a declared body refuses a wrong one, too.
    for (const code of ['request_timeout', 'too_large', 'unsupported_media_type'])
      assert.ok(codesOf(paths['/cases/{id}'].delete).includes(code), code);
  });

  it('describes every error under the address that its problems have as type', () => {
    assert.deepEqual(Object.keys(components['x-problems']), Object.keys(ERRORS));
    for (const { type } of Object.values<{ type: string }>(components['x-problems'])) {
      const [address, pointer = ''] = type.split('#/');
      assert.equal(address, '/openapi.json');
      assert.equal(pointer.split('/').reduce((part, step) => part?.[step], document).type, type);
    }
  });

  it('describes what receivers of webhooks are sent', () => {
    const { post } = webhooks.case_updated;
    assert.ok(names(post.parameters).includes('X-Service-Signature'));
    const { properties } = post.requestBody.content['application/json'].schema;
    assert.deepEqual(properties.event_type, { type: 'string', const: 'case_updated' });
    assert.deepEqual(Object.keys(properties.payload.properties), ['case_id']);
  });
});

describe('GET /openapi.json', () => {
  it('serves the document, itself included, with an ETag', async () => {
    const { hapi } = serverOf([]);
    const answer = await hapi.inject('/openapi.json');
    assert.equal(answer.statusCode, 200);
    assert.equal(json(answer).paths['/openapi.json'].get.operationId, 'getOpenApi');
    const headers = { 'if-none-match': String(answer.headers.etag) };
    assert.equal((await hapi.inject({ url: '/openapi.json', headers })).statusCode, 304);
  });
});
