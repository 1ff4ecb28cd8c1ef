import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UsageError } from '../../lib/config.ts';
import { createLog, logTo } from '../../lib/log.ts';

const collect = (level = 'info') => {
  const lines: string[] = [];
  return { lines, log: logTo({ write: (line: string) => lines.push(line) }, level) };
};

describe('the log', () => {
  it('is one JSON line a message, with the time and the level in words', () => {
    const { lines, log } = collect();
    log.warn({ lines: 3 }, 'Something');
    log.debug({}, 'Not asked for');
    assert.equal(lines.length, 1);
    const { time, ...rest } = JSON.parse(lines[0] ?? '');
    assert.deepEqual(rest, { level: 'warn', lines: 3, msg: 'Something' });
    assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('has the stack of an error and of its causes, and nothing else that hangs on it', () => {
    const { lines, log } = collect();
    const cause = Object.assign(new Error('inner'), { code: 'ENOENT', request: { body: 'x' } });
    log.error({ err: new Error('outer', { cause }) }, 'It failed');
    const { err } = JSON.parse(lines[0] ?? '');
    assert.match(err.stack, /Error: outer\n +at /);
    assert.match(err.cause.stack, /Error: inner\n +at /);
    assert.deepEqual(Object.keys(err.cause), ['name', 'code', 'message', 'stack']);
  });

  for (const [what, details] of [
    ['an Authorization header', { headers: { authorization: 'Bearer abcdefgh123' } }],
    ['a header in a text', { text: 'sent Authorization: Basic abcdefgh123' }],
    ['a bearer token in an error', { err: new Error('refused Bearer abcdefgh123') }],
    ['a secret by its name', { webhook: { secret: 'abcdefgh123', api_key: 'abcdefgh123' } }],
    ['a signing secret', { text: 'key is whsec_abcdefgh123' }],
    ['a token of the code host', { text: 'with ghp_abcdefgh123 and github_pat_abcdefgh123' }],
    ['the user of a URL', { url: 'https://me:abcdefgh123@example.com/x' }],
    ['a token that is the user of a URL', { url: 'https://abcdefgh123@example.com/x' }],
  ] as const) {
    it(`never has ${what}`, () => {
      const { lines, log } = collect();
      log.error(details, 'A line');
      assert.doesNotMatch(lines.join(), /abcdefgh123/);
      assert.match(lines.join(), /\[removed\]/);
      assert.doesNotThrow(() => JSON.parse(lines[0] ?? ''));
    });
  }

  it('keeps what only looks like a secret', () => {
    const { lines, log } = collect();
    log.info({ input_tokens: 12, url: 'http://127.0.0.1:4870/x', path: 'a@b' }, 'Basic things');
    const { input_tokens, url, path, msg } = JSON.parse(lines[0] ?? '');
    assert.deepEqual(
      [input_tokens, url, path, msg],
      [12, 'http://127.0.0.1:4870/x', 'a@b', 'Basic things'],
    );
  });

  it('has no level that nobody knows', async () => {
    await assert.rejects(createLog('loud'), UsageError);
  });
});
