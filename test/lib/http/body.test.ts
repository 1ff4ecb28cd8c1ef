import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { readBytes } from '../../../lib/http/body.ts';

const MINUTE = 60_000;

describe('readBytes', () => {
  it('joins what was sent', async () => {
    const body = new PassThrough();
    const read = readBytes(body, 0, { maxBytes: 4, patienceMs: MINUTE });
    body.write('ab');
    body.end('cd');
    assert.equal((await read).toString(), 'abcd');
  });

  it('refuses one byte too many, declared or not', async () => {
    for (const declared of [0, 5]) {
      const body = new PassThrough();
      const read = readBytes(body, declared, { maxBytes: 4, patienceMs: MINUTE });
      body.end('abcde');
      await assert.rejects(read, { code: 'too_large', members: { max_bytes: 4 } });
    }
  });

  it('refuses a body declared too large that never comes', async () => {
    const read = readBytes(new PassThrough(), 5, { maxBytes: 4, patienceMs: 1 });
    await assert.rejects(read, { code: 'too_large' });
  });

  it('refuses a body that does not end in time', async () => {
    const body = new PassThrough();
    body.write('a');
    await assert.rejects(readBytes(body, 2, { maxBytes: 4, patienceMs: 1 }), {
      code: 'request_timeout',
    });
  });

  it('refuses a body that breaks off', async () => {
    const body = new PassThrough();
    const read = readBytes(body, 2, { maxBytes: 4, patienceMs: MINUTE });
    body.destroy();
    await assert.rejects(read, { code: 'bad_request' });
  });
});
