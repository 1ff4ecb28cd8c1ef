import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { ServiceError } from '../../../lib/errors.ts';
import { created, markdown, patchAnswer, tagged } from '../../../lib/http/answer.ts';
import { route } from '../../../lib/http/route.ts';
import { json, listen, sendRaw, serverOf } from './serve.ts';

const Thing = Type.Object({ name: Type.String() });
const JSON_TYPE = { 'content-type': 'application/json' };

const routes = [
  route('GET /value', {
    summary: 'A value',
    response: Thing,
    handler: () => ({ name: 'ä' }),
  }),
  route('GET /word', {
    summary: 'A JSON string',
    response: Type.String(),
    handler: () => 'word',
  }),
  route('GET /tagged', {
    summary: 'Ready bytes',
    response: Thing,
    handler: () => tagged<{ name: string }>(Buffer.from('{"name":"ready"}'), 'abc'),
  }),
  route('GET /markdown', {
    summary: 'Markdown',
    produces: 'text/markdown',
    response: Type.String(),
    handler: () => markdown({ content: '# Ä\n', sha256: 'm1' }),
  }),
  route('GET /diff', {
    summary: 'A diff',
    produces: 'text/x-diff',
    response: Type.String(),
    handler: () => patchAnswer(Buffer.from('--- a\n')),
  }),
  route('POST /things', {
    summary: 'Make a thing',
    body: Thing,
    response: Thing,
    status: 201,
    maxBytes: 100,
    handler: ({ body }) => created(`/things/${body.name}`, body, 'v1'),
  }),
  route('POST /things/start', {
    summary: 'Start a long job',
    response: Thing,
    status: 202,
    handler: () => ({ name: 'job' }),
  }),
  route('DELETE /things/{id}', {
    summary: 'Remove a thing',
    handler: () => undefined,
  }),
  route('PUT /things/{id}', {
    summary: 'Break',
    params: { id: Type.String() },
    body: Type.Optional(Thing),
    handler: () => {
      throw new ServiceError('lock_held', 'Held by a session. Abort it.', {
        members: { holder: 's1' },
        headers: { 'retry-after': '5' },
      });
    },
  }),
];

const { hapi } = serverOf(routes);
const get = (url: string, headers = {}) => hapi.inject({ url, headers });

describe('hapiRoute: answers', () => {
  it('sends a value as JSON in UTF-8, and says not to trust a cache', async () => {
    const answer = await get('/value');
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(answer.headers['cache-control'], 'no-cache');
    assert.equal(answer.headers['content-length'], 13);
    assert.deepEqual(answer.payload, '{"name":"ä"}');
  });

  it('sends a plain string as JSON', async () => {
    assert.equal((await get('/word')).payload, '"word"');
  });

  it('sends ready bytes as they are, with a quoted ETag', async () => {
    const answer = await get('/tagged');
    assert.equal(answer.payload, '{"name":"ready"}');
    assert.equal(answer.headers.etag, '"abc"');
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  });

  it('sends Markdown and diffs under their own types', async () => {
    const text = await get('/markdown');
    assert.equal(text.headers['content-type'], 'text/markdown; charset=utf-8');
    assert.equal(text.headers.etag, '"m1"');
    assert.equal(text.payload, '# Ä\n');
    assert.equal((await get('/diff')).headers['content-type'], 'text/x-diff; charset=utf-8');
  });

  it('answers 201 with Location, 202 and 204 without a body', async () => {
    const post = await hapi.inject({ method: 'POST', url: '/things', payload: { name: 'x' } });
    assert.equal(post.statusCode, 201);
    assert.equal(post.headers.location, '/things/x');
    assert.equal(post.headers.etag, '"v1"');

    const job = await hapi.inject({ method: 'POST', url: '/things/start' });
    assert.equal(job.statusCode, 202);

    const url = '/things/6f1c1f0e-58f1-4f3c-9a39-0d5f3a1f7a11';
    const gone = await hapi.inject({ method: 'DELETE', url });
    assert.equal(gone.statusCode, 204);
    assert.equal(gone.payload, '');
  });

  it('forbids guessing the type and framing', async () => {
    for (const url of ['/value', '/nowhere']) {
      const { headers } = await get(url);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['x-frame-options'], 'DENY');
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
  });
});

describe('hapiRoute: If-None-Match', () => {
  for (const known of ['"abc"', 'W/"abc"', '"x", "abc"', '*']) {
    it(`answers 304 without a body to ${known}`, async () => {
      const answer = await get('/tagged', { 'if-none-match': known });
      assert.equal(answer.statusCode, 304);
      assert.equal(answer.headers.etag, '"abc"');
      assert.equal(answer.payload, '');
    });
  }

  it('has a tag of the whole answer where the handler gives none', async () => {
    const { headers } = await get('/value');
    const known = String(headers.etag);
    assert.match(known, /^"[0-9a-f]{32}"$/);
    assert.equal((await get('/value', { 'if-none-match': known })).statusCode, 304);
    assert.notEqual((await get('/markdown')).headers.etag, known);
  });

  it('sends what is new to another tag', async () => {
    assert.equal((await get('/tagged', { 'if-none-match': '"abcd"' })).statusCode, 200);
  });

  it('does not turn a write into 304, and refuses it', async () => {
    const options = { method: 'POST', url: '/things', payload: { name: 'x' } };
    const answer = await hapi.inject({ ...options, headers: { 'if-none-match': '"v1"' } });
    assert.equal(answer.statusCode, 400);
    assert.match(answer.payload, /Send POST without it\./);
  });
});

describe('hapiRoute: methods', () => {
  it('answers HEAD as GET without the body', async () => {
    const answer = await hapi.inject({ method: 'HEAD', url: '/tagged' });
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['content-length'], 16);
    assert.equal(answer.headers.etag, '"abc"');
    assert.equal(answer.payload, '');
  });

  it('answers OPTIONS with what a path takes', async () => {
    const answer = await hapi.inject({ method: 'OPTIONS', url: '/things/x' });
    assert.equal(answer.statusCode, 204);
    assert.equal(answer.headers.allow, 'PUT, DELETE');
  });

  it('answers 405 with Allow where only other methods are known', async () => {
    for (const method of ['DELETE', 'TRACE', 'POST']) {
      const answer = await hapi.inject({ method, url: '/value' });
      assert.equal(answer.statusCode, 405);
      assert.equal(answer.headers.allow, 'GET, HEAD');
      assert.equal(json(answer).code, 'method_not_allowed');
    }
  });

  it('answers 404 on an unknown path, whatever the method', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND']) {
      const answer = await hapi.inject({ method, url: '/nowhere' });
      assert.equal(answer.statusCode, 404);
      assert.equal(json(answer).code, 'route_not_found');
      assert.match(json(answer).detail, new RegExp(`There is no ${method} /nowhere`));
    }
  });

  it('names the same path with or without /api on 404, also as the first request', async () => {
    const { hapi: unused } = serverOf(routes);
    const near = await unused.inject({ method: 'GET', url: '/api/value' });
    assert.match(json(near).detail, /^There is no GET \/api\/value, only GET \/value\. /);
  });
});

describe('answerProblems', () => {
  it('tells a ServiceError as a problem, with its members and headers', async () => {
    const answer = await hapi.inject({ method: 'PUT', url: '/things/1' });
    assert.equal(answer.statusCode, 409);
    assert.equal(answer.headers['content-type'], 'application/problem+json');
    assert.equal(answer.headers['retry-after'], '5');
    assert.deepEqual(json(answer), {
      type: '/openapi.json#/components/x-problems/lock_held',
      title: 'The session lock is held',
      status: 409,
      detail: 'Held by a session. Abort it.',
      code: 'lock_held',
      holder: 's1',
    });
  });

  it('tells a malformed id as an unknown one', async () => {
    const answer = await hapi.inject({ method: 'DELETE', url: '/things/1' });
    assert.equal(answer.statusCode, 404);
    assert.equal(json(answer).code, 'not_found');
  });

  it('tells a malformed URL as a problem', async () => {
    const answer = await get('/%zz');
    assert.equal(answer.statusCode, 400);
    assert.equal(json(answer).code, 'bad_request');
  });

  it('refuses an unknown query parameter', async () => {
    const answer = await get('/value?verbose=1');
    assert.equal(answer.statusCode, 400);
    assert.equal(json(answer).errors[0].path, 'query/verbose');
  });
});

describe('a request that cannot be parsed', () => {
  const HOST = 'Host: 127.0.0.1\r\n';

  for (const [what, text, status, detail] of [
    [
      'is too long',
      `GET /value?${'x'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`,
      400,
      /more than 16384 /,
    ],
    ['is no HTTP', 'hello\r\n\r\n', 400, /not valid HTTP/],
    [
      'has a wrong length',
      `POST /things HTTP/1.1\r\n${HOST}Content-Length: x\r\n\r\n`,
      400,
      /HPE_/,
    ],
    ['names no host', 'GET /value HTTP/1.1\r\nConnection: close\r\n\r\n', 403, /^Host is missing/],
  ] as const)
    it(`is a problem where it ${what}`, async (t) => {
      const { port, url } = await listen(t, routes);
      const [head = '', body = ''] = (await sendRaw(port, text)).split('\r\n\r\n');
      assert.match(head, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(head, /content-type: application\/problem\+json/i);
      assert.match(JSON.parse(body).detail, detail);
      assert.equal((await fetch(`${url}/value`)).status, 200);
    });
});

describe('a body on the wire', () => {
  const post = (payload: string, headers: Record<string, string> = JSON_TYPE) =>
    hapi.inject({ method: 'POST', url: '/things', payload, headers });

  it('is refused with 400, 415 and 413', async () => {
    assert.equal((await post('{')).statusCode, 400);
    assert.equal((await post('')).statusCode, 400);
    assert.equal((await post('{"name":"x"}', { 'content-type': 'text/html' })).statusCode, 415);
    const large = await post(JSON.stringify({ name: 'x'.repeat(100) }));
    assert.equal(large.statusCode, 413);
    assert.equal(json(large).code, 'too_large');
  });

  it('is refused with 415, not 400, when its type cannot even be read', async () => {
    assert.equal((await post('{}', { 'content-type': '???' })).statusCode, 415);
  });

  it('is refused when it grows too large without a declared length', async (t) => {
    const { port } = await listen(t, routes);
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request({ port, method: 'POST', path: '/things', headers: JSON_TYPE });
      sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      sent.write('"'.padEnd(60, 'x'));
      sent.end(''.padEnd(60, 'x'));
    });
    assert.equal(answer, 413);
  });

  it('of many megabytes is answered, not cut off', async (t) => {
    const { url } = await listen(t, routes);
    for (const path of ['/things', '/nowhere']) {
      const body = Buffer.alloc(8 * 1024 * 1024, ' ');
      const answer = await fetch(url + path, { method: 'POST', body, headers: JSON_TYPE });
      assert.equal(answer.status, 413);
    }
  });
});
