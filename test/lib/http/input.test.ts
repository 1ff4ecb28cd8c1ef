import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type TSchema, Type } from 'typebox';
import { type ErrorCode, type FieldError, ServiceError } from '../../../lib/errors.ts';
import { inputReader, type RequestParts } from '../../../lib/http/input.ts';
import type { Route } from '../../../lib/http/route.ts';

const Body = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 5 }),
  state: Type.Optional(Type.Union([Type.Literal('OPEN'), Type.Literal('BLOCKED')])),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  tags: Type.Optional(Type.Array(Type.Enum(['a', 'b']), { uniqueItems: true })),
  owner: Type.Optional(
    Type.Union([Type.Object({ name: Type.String(), age: Type.Integer() }), Type.Null()]),
  ),
});

const routeWith = (parts: Partial<Omit<Route, 'handler'>>): Route => ({
  method: 'POST',
  path: '/cases/{id}/memory/{filename}',
  summary: 'Test',
  handler: () => undefined,
  ...parts,
});

const asking = (parts: Partial<RequestParts> & { json?: unknown } = {}): RequestParts => ({
  params: {},
  query: {},
  headers: { 'content-type': 'application/json' },
  payload: parts.json === undefined ? undefined : Buffer.from(JSON.stringify(parts.json)),
  ...parts,
});

const refusal = (code: ErrorCode, action: () => unknown): ServiceError => {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, code);
    return error;
  }
  assert.fail(`expected ${code}`);
};

const errorsOf = (body: TSchema, json: unknown): FieldError[] =>
  refusal('bad_request', () => inputReader(routeWith({ body }))(asking({ json }))).errors ?? [];

describe('inputReader: body', () => {
  it('takes what fits, as it was sent', () => {
    const json = { title: 'abc', note: null, tags: ['a'] };
    assert.deepEqual(inputReader(routeWith({ body: Body }))(asking({ json })).body, json);
  });

  it('names each missing field', () => {
    const Two = Type.Object({ title: Type.String(), type: Type.String() });
    assert.deepEqual(errorsOf(Two, {}), [
      { path: '/title', message: 'is required' },
      { path: '/type', message: 'is required' },
    ]);
  });

  it('names an unknown field, lists the known ones, and says it once', () => {
    const Two = Type.Object({ title: Type.String(), type: Type.String() });
    assert.deepEqual(errorsOf(Two, { title: 'a', type: 'b', titel: 1 }), [
      { path: '/titel', message: 'is unknown: expected title, type' },
    ]);
  });

  it('finds an unknown field inside another', () => {
    const errors = errorsOf(Body, { title: 'a', owner: { name: 'x', age: 1, nmae: 'y' } });
    assert.deepEqual(errors, [{ path: '/owner/nmae', message: 'is unknown: expected name, age' }]);
  });

  const WRONG: [string, unknown, FieldError][] = [
    ['a wrong type', { title: 1 }, { path: '/title', message: 'must be a string' }],
    [
      'a number as text',
      { title: 'a', count: '2' },
      { path: '/count', message: 'must be a whole number' },
    ],
    ['an empty text', { title: '' }, { path: '/title', message: 'must not be empty' }],
    [
      'a long text',
      { title: 'abcdef' },
      { path: '/title', message: 'must have 5 characters or fewer' },
    ],
    ['a small number', { title: 'a', count: 0 }, { path: '/count', message: 'must be 1 or more' }],
    [
      'no member of a union',
      { title: 'a', state: 'X' },
      { path: '/state', message: 'must be one of OPEN, BLOCKED' },
    ],
    [
      'no member of an enum',
      { title: 'a', tags: ['c'] },
      { path: '/tags/0', message: 'must be one of a, b' },
    ],
    [
      'no type of a union',
      { title: 'a', note: 1 },
      { path: '/note', message: 'must be a string or null' },
    ],
    [
      'a repeated entry',
      { title: 'a', tags: ['a', 'a'] },
      { path: '/tags', message: 'must not contain the same entry twice' },
    ],
    [
      'a part of a nullable object',
      { title: 'a', owner: { name: 'x' } },
      { path: '/owner/age', message: 'is required' },
    ],
    ['no object at all', [1], { path: '', message: 'must be an object' }],
    ['null', null, { path: '', message: 'must be an object' }],
  ];
  for (const [what, json, error] of WRONG) {
    it(`says what is wrong with ${what}, once`, () =>
      assert.deepEqual(errorsOf(Body, json), [error]));
  }

  it('says of an empty text, a blank one and an empty change what they must be', () => {
    const by = Type.Optional(Type.String({ minLength: 1, pattern: '\\S' }));
    const Change = Type.Object({ by, at: Type.Optional(Type.Null()) }, { minProperties: 1 });
    assert.deepEqual(errorsOf(Change, { by: '' }), [{ path: '/by', message: 'must not be empty' }]);
    assert.deepEqual(errorsOf(Change, { by: ' ' }), [
      { path: '/by', message: 'must not be blank' },
    ]);
    assert.deepEqual(errorsOf(Change, {}), [
      { path: '', message: 'must have at least one of by, at' },
    ]);
  });

  it('tells several errors at once, in the detail too', () => {
    const error = refusal('bad_request', () =>
      inputReader(routeWith({ body: Body, query: Type.Object({ limit: Type.Integer() }) }))(
        asking({ json: { title: 1, x: 1 }, query: { limit: 'many' } }),
      ),
    );
    assert.deepEqual(
      error.errors?.map(({ path }) => path),
      ['query/limit', '/x', '/title'],
    );
    assert.match(error.message, /^query\/limit must be a whole number; \/x is unknown/);
  });

  it('takes the last of duplicate keys, and __proto__ as an unknown field', () => {
    const read = inputReader(routeWith({ body: Body }));
    const twice = asking({ payload: Buffer.from('{"title":"a","title":"b"}') });
    assert.deepEqual(read(twice).body, { title: 'b' });

    const poisoned = asking({ payload: Buffer.from('{"title":"a","__proto__":{"x":1}}') });
    const { errors } = refusal('bad_request', () => read(poisoned));
    assert.equal(errors?.[0]?.path, '/__proto__');
    assert.equal(({} as { x?: number }).x, undefined);
  });

  it('lets an optional body be absent or empty, and no other', () => {
    const optional = inputReader(routeWith({ body: Type.Optional(Body) }));
    assert.equal(optional(asking()).body, undefined);
    assert.equal(optional(asking({ payload: Buffer.alloc(0) })).body, undefined);

    const required = inputReader(routeWith({ body: Body }));
    const { errors } = refusal('bad_request', () => required(asking({ payload: Buffer.alloc(0) })));
    assert.deepEqual(errors, [{ path: '', message: 'is required: send application/json' }]);
  });

  it('refuses fields where no body is expected', () => {
    const read = inputReader(routeWith({}));
    assert.deepEqual(read(asking({ json: {} })).body, {});
    const { errors } = refusal('bad_request', () => read(asking({ json: { force: true } })));
    assert.deepEqual(errors, [
      { path: '/force', message: 'is unknown: no field is expected here' },
    ]);
  });

  it('keeps the refinements of a schema', () => {
    const Even = Type.Refine(
      Type.Integer(),
      (n) => n % 2 === 0,
      () => 'must be even',
    );
    assert.deepEqual(errorsOf(Type.Object({ n: Even }), { n: 3 }), [
      { path: '/n', message: 'must be even' },
    ]);
  });
});

describe('inputReader: params and query', () => {
  const Query = Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    force: Type.Optional(Type.Boolean()),
    state: Type.Optional(Type.Array(Type.String())),
    name: Type.Optional(Type.String()),
  });
  const query = (values: Record<string, unknown>) =>
    inputReader(routeWith({ query: Query }))(asking({ query: values })).query;

  it('converts text to what the schema names', () => {
    assert.deepEqual(query({ limit: '5', force: 'true', state: 'OPEN', name: '7' }), {
      limit: 5,
      force: true,
      state: ['OPEN'],
      name: '7',
    });
  });

  for (const values of [
    { limit: '1.5' },
    { limit: '0x5' },
    { limit: '' },
    { force: '1' },
    { name: ['a', 'b'] },
    { forse: 'true' },
  ]) {
    it(`refuses ${JSON.stringify(values)}`, () => {
      const { errors } = refusal('bad_request', () => query(values));
      assert.equal(errors?.[0]?.path, `query/${Object.keys(values)[0]}`);
    });
  }

  const params = inputReader(
    routeWith({
      params: Type.Object({
        id: Type.String({ format: 'uuid' }),
        filename: Type.String({ pattern: '^[a-z]+\\.md$' }),
      }),
    }),
  );
  const id = '6f1c1f0e-58f1-4f3c-9a39-0d5f3a1f7a11';

  it('answers a malformed id as it does an unknown one', () => {
    const error = refusal('not_found', () =>
      params(asking({ params: { id: 'x', filename: '../y' } })),
    );
    assert.match(error.message, /^There is no Work item x here/);
  });

  it('calls what is not there by its name', () => {
    const Uuid = Type.String({ format: 'uuid' });
    for (const [path, params, name] of [
      ['/webhooks/{id}/deliveries/{did}', { id: Uuid, did: Uuid }, 'delivery'],
      ['/api/worktrees/{case_id}/lock', { case_id: Uuid }, 'Work item'],
      ['/cases/{id}/sessions/{sid}', { id: Uuid, sid: Uuid }, 'session'],
    ] as const) {
      const readPath = inputReader(routeWith({ path, params: Type.Object({ ...params }) }));
      const given = { id, did: 'x', case_id: 'x', sid: 'x' };
      const error = refusal('not_found', () => readPath(asking({ params: given })));
      assert.match(error.message, new RegExp(`^There is no ${name} x here`));
    }
  });

  it('names any other malformed part of the path', () => {
    const { errors } = refusal('bad_request', () =>
      params(asking({ params: { id, filename: 'A' } })),
    );
    assert.deepEqual(errors, [
      { path: 'path/filename', message: 'must match pattern "^[a-z]+\\.md$"' },
    ]);
  });
});

describe('inputReader: a text that must not be blank', () => {
  const read = inputReader(
    routeWith({
      method: 'POST',
      body: Type.Object({ text: Type.String({ minLength: 1, pattern: '\\S' }) }),
    }),
  );
  for (const [text, message] of [
    ['', 'must not be empty'],
    [' \n', 'must not be blank'],
  ] as const)
    it(`is named once, and ${message}`, () => {
      const payload = Buffer.from(JSON.stringify({ text }));
      const headers = { 'content-type': 'application/json' };
      const { errors } = refusal('bad_request', () => read(asking({ payload, headers })));
      assert.deepEqual(errors, [{ path: '/text', message }]);
    });
});

describe('inputReader: If-Match', () => {
  const read = (header?: string) =>
    inputReader(routeWith({ method: 'PUT', conditional: true }))(
      asking({ headers: { 'if-match': header } }),
    ).ifMatch;

  it('is the tags without quotes, or a star', () => {
    assert.equal(read('"abc"'), 'abc');
    assert.equal(read(' abc '), 'abc');
    assert.equal(read('"a", "b",c'), 'a,b,c');
    assert.equal(read('"a", ,'), 'a');
    assert.equal(read('*'), '*');
    assert.equal(read(), undefined);
  });

  it('has no weak tag, because only strong ones match', () => {
    assert.equal(read('W/"abc"'), '');
    assert.equal(read('W/"a", "b"'), 'b');
  });

  for (const wrong of ['', ',', '"a" "b"', '*, "a"', '"a"b"'])
    it(`is refused as ${wrong || 'an empty text'}`, () => {
      assert.match(refusal('bad_request', () => read(wrong)).message, /^If-Match must be \*/);
    });

  it('is refused by a write that does not support it', () => {
    const put = inputReader(routeWith({ method: 'POST' }));
    const error = refusal('bad_request', () => put(asking({ headers: { 'if-match': '"a"' } })));
    assert.match(error.message, /so nothing was done. Send POST without it/);
  });
});

describe('inputReader: content types', () => {
  const json = inputReader(routeWith({ body: Body }));
  const markdown = inputReader({
    ...routeWith({ body: Type.String() }),
    consumes: 'text/markdown',
  });
  const sending = (type: string | undefined, payload: Buffer, more = {}) =>
    asking({ headers: { 'content-type': type, ...more }, payload });

  for (const type of [
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
  ]) {
    it(`refuses JSON sent as ${type}, naming what it expects`, () => {
      const error = refusal('unsupported_media_type', () => json(sending(type, Buffer.from('{}'))));
      assert.match(error.message, /Send application\/json/);
    });
  }

  it('refuses a compressed body', () => {
    const sent = sending('application/json', Buffer.from('{}'), { 'content-encoding': 'gzip' });
    refusal('unsupported_media_type', () => json(sent));
  });

  it('says where JSON breaks off, when that is known', () => {
    const sent = sending('application/json', Buffer.from('{\n  "title": "a",\n  oops\n}'));
    assert.match(refusal('bad_request', () => json(sent)).message, /line 3, column 3/);
    refusal('bad_request', () => json(sending('application/json', Buffer.from('{'))));
  });

  it('takes Markdown to the byte, byte order mark included', () => {
    const text = '\ufeff# Ä\r\n';
    for (const type of [
      'text/markdown',
      'text/markdown; charset=UTF-8',
      'text/plain;charset=utf-8',
    ]) {
      assert.equal(markdown(sending(type, Buffer.from(text))).body, text);
    }
  });

  it('takes no bytes as an empty Markdown text', () => {
    assert.equal(markdown(sending(undefined, Buffer.alloc(0))).body, '');
  });

  it('refuses Markdown and JSON that are no UTF-8', () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    refusal('bad_request', () => markdown(sending('text/markdown', bytes)));
    refusal('bad_request', () => json(sending('application/json', bytes)));
  });
});
