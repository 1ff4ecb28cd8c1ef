import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sections } from '../../routes/index.ts';
import { startHere } from '../helpers/daemon-here.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const JSON_TYPE = 'application/json';

/** Bodies that no operation takes. */
const WRONG: readonly (readonly [name: string, type: string, body: string | Blob])[] = [
  ['null', JSON_TYPE, 'null'],
  ['a list', JSON_TYPE, '[]'],
  ['a number', JSON_TYPE, '1e308'],
  ['half an object', JSON_TYPE, '{"title":'],
  ['an unknown field', JSON_TYPE, '{"__proto__":{"a":1},"nosuch":1}'],
  ['a field twice', JSON_TYPE, '{"nosuch":1,"nosuch":2}'],
  ['deep lists', JSON_TYPE, `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ['deep objects', JSON_TYPE, `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
  ['half a surrogate pair as a name', JSON_TYPE, '{"\\ud800":"\\udc00"}'],
  ['bytes that are no UTF-8', JSON_TYPE, new Blob([new Uint8Array([0x7b, 0xff, 0x7d])])],
  ['another charset', `${JSON_TYPE}; charset=utf-16`, '{}'],
  ['a form', 'application/x-www-form-urlencoded', 'title=x'],
];

const ID = '00000000-0000-4000-8000-000000000000';

const routes = sections
  .flatMap((section) => section.routes)
  .filter(({ body, consumes, raw, upload, devOnly }) => {
    const isJson = consumes === undefined || consumes === JSON_TYPE;
    return body !== undefined && isJson && !raw && !upload && !devOnly;
  });

describe('a wrong body', () => {
  it('is refused by every operation with a problem that says what to do', async (t) => {
    const { url } = await startHere(t, ['--workspace', temporaryDirectory(t)]);
    assert.ok(routes.length > 50);
    // MCP answers with JSON-RPC errors.
    for (const { method, path } of routes.filter((one) => one.path !== '/mcp'))
      for (const [name, type, body] of WRONG) {
        const to = url + path.replaceAll(/\{\w+\}/g, ID);
        const answer = await fetch(to, { method, headers: { 'content-type': type }, body });
        const text = await answer.text();
        const of = `${method} ${path} with ${name}: ${answer.status} ${text.slice(0, 500)}`;
        assert.ok(answer.status >= 400 && answer.status < 500, of);
        assert.equal(answer.headers.get('content-type'), 'application/problem+json', of);
        assert.match(JSON.parse(text).detail, /^\S.{10,4000}[.)]$/su, of);
        assert.doesNotMatch(text, /\n\s+at |\.[cm]?[jt]s:\d/, of);
      }
  });
});
