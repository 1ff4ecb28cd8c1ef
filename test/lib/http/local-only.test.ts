import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { newKey } from '../../../lib/guard/api-keys/keys.ts';
import { isLoopbackAddress, notLocal } from '../../../lib/http/local-only.ts';
import { route } from '../../../lib/http/route.ts';
import { layoutOf } from '../../../store/layout.ts';
import { saveKeyIn } from '../../../store/workspace/api-keys.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { makeRoot } from '../../helpers/workspace.ts';
import { json, listen, sendRaw, serverOf } from './serve.ts';

const PORT = 4321;

describe('notLocal', () => {
  for (const host of [
    'localhost:4321',
    'LOCALHOST:4321',
    '127.0.0.1:4321',
    '127.8.9.1:4321',
    '[::1]:4321',
  ]) {
    it(`lets Host ${host} through, and Origin http://${host.toLowerCase()}`, () => {
      assert.equal(notLocal({ host }, PORT), undefined);
      assert.equal(notLocal({ host, origin: `http://${host.toLowerCase()}` }, PORT), undefined);
    });
  }

  const FOREIGN = [
    '',
    ':4321',
    'localhost:',
    'localhost:x',
    'localhost:1:4321',
    'localhost:432100',
    'evil.example:4321',
    'localhost.evil.example:4321',
    '127.0.0.1.evil.example:4321',
    '127.0.0.1@evil.example:4321',
    '0.0.0.0:4321',
    '128.0.0.1:4321',
    '127.0.0.256:4321',
    '::1:4321',
    '[::]:4321',
    '[::1]evil:4321',
  ];
  for (const host of FOREIGN) {
    it(`refuses Host ${JSON.stringify(host)}`, () => {
      assert.equal(notLocal({ host }, PORT)?.code, 'not_local');
    });
    it(`refuses Origin http://${host}`, () => {
      const headers = { host: 'localhost:4321', origin: `http://${host}` };
      assert.equal(notLocal(headers, PORT)?.code, 'not_local');
    });
  }

  it('takes a loopback Host with any port, as ssh -L sends it, and no Origin but that one', () => {
    for (const host of ['localhost:8080', '127.0.0.1:1', '[::1]:65535', 'localhost']) {
      assert.equal(notLocal({ host }, PORT), undefined);
      assert.equal(notLocal({ host, origin: `http://${host}` }, PORT), undefined);
      for (const other of ['localhost:3000', 'localhost:4321', '127.0.0.1:4321', '127.0.0.2:1'])
        assert.equal(notLocal({ host, origin: `http://${other}` }, PORT)?.code, 'not_local');
    }
  });

  it('refuses a page of another port or name of this machine', () => {
    for (const origin of ['http://localhost', 'http://localhost:3000', 'http://127.0.0.1:4321'])
      assert.equal(notLocal({ host: 'localhost:4321', origin }, PORT)?.code, 'not_local');
  });

  for (const origin of [
    'null',
    '',
    'https://localhost:4321',
    'file://',
    'localhost:4321',
    'http://localhost:4321/x',
  ]) {
    it(`refuses Origin ${JSON.stringify(origin)}`, () => {
      assert.equal(notLocal({ host: 'localhost:4321', origin }, PORT)?.code, 'not_local');
    });
  }

  it('refuses what a browser says comes from another site', () => {
    const from = (site: string) =>
      notLocal({ host: 'localhost:4321', 'sec-fetch-site': site }, PORT);
    assert.equal(from('cross-site')?.code, 'not_local');
    assert.equal(from('same-origin'), undefined);
    assert.equal(from('none'), undefined);
  });

  it('takes the port of a Host that names none as 80', () => {
    const origin = 'http://localhost';
    for (const host of ['localhost', 'localhost:80'])
      assert.equal(notLocal({ host, origin }, 80), undefined);
  });
});

describe('isLoopbackAddress', () => {
  it('knows loopback from all else', () => {
    for (const yes of ['127.0.0.1', '127.1.2.3', '::1', 'localhost'])
      assert.ok(isLoopbackAddress(yes));
    for (const no of [
      '0.0.0.0',
      '::',
      '',
      '192.168.0.1',
      '127.evil.example',
      '[::1]',
      'example.com',
    ]) {
      assert.ok(!isLoopbackAddress(no), no);
    }
  });
});

describe('the guard', () => {
  const calls: string[] = [];
  const touch = route('POST /touch', {
    summary: 'Leave a trace',
    handler: () => {
      calls.push('touch');
      return undefined;
    },
  });

  it('stands before known and unknown paths, malformed URLs and bodies', async () => {
    const { hapi } = serverOf([touch]);
    for (const url of ['/touch', '/nowhere', '/%zz', '/openapi.json']) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await hapi.inject({ method, url, headers: { host: 'evil.example' } });
        assert.equal(answer.statusCode, 403);
        assert.equal(json(answer).code, 'not_local');
      }
    }
    assert.deepEqual(calls, []);
  });

  it('takes a page that came by a forwarded port, and refuses one of another port', async (t) => {
    const { port } = await listen(t, [touch]);
    const forward = createServer((from) => void from.pipe(connect(port, '127.0.0.1')).pipe(from));
    forward.listen(0, '127.0.0.1');
    await once(forward, 'listening');
    atEnd(t, () => forward.close());
    const { port: near } = forward.address() as AddressInfo;
    const post = (origin: string): Promise<string> =>
      sendRaw(
        near,
        `POST /touch HTTP/1.1\r\nHost: localhost:${near}\r\nOrigin: ${origin}\r\nConnection: close\r\n\r\n`,
      );
    assert.match(await post(`http://localhost:${near}`), /^HTTP\/1\.1 204 /);
    for (const other of [port, 3000])
      assert.match(await post(`http://localhost:${other}`), /^HTTP\/1\.1 403 /);
  });

  it('refuses an upgrade as it does a request, and takes an unwanted one as a request', async (t) => {
    const { port } = await listen(t, [touch]);
    const upgrade = (host: string) =>
      `GET /nowhere HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    assert.match(await sendRaw(port, upgrade('evil.example')), /^HTTP\/1\.1 403 /);
    assert.match(await sendRaw(port, upgrade(`localhost:${port}`)), /^HTTP\/1\.1 404 /);
  });

  it('is not fooled by a URL that names this machine', async (t) => {
    const { port } = await listen(t, [touch]);
    const line = `POST http://localhost:${port}/touch HTTP/1.1`;
    assert.match(await sendRaw(port, `${line}\r\nHost: evil.example\r\n\r\n`), /^HTTP\/1\.1 403 /);
  });

  it('lets a good key through and refuses any other credential', async (t) => {
    const workspace = makeRoot();
    atEnd(t, () => rmSync(workspace, { recursive: true }));
    const { key, text } = newKey('good', new Date(0));
    const used = { ...key, last_used_at: key.created_at };
    await saveKeyIn(layoutOf(workspace), used, { grant: () => undefined } as never);
    const { hapi } = serverOf([touch], {}, workspace);
    const status = async (authorization: string) =>
      (await hapi.inject({ method: 'POST', url: '/touch', headers: { authorization } })).statusCode;
    assert.equal(await status(`Bearer ${text}`), 204);
    for (const wrong of ['Bearer bad-key', 'Bearer ', '', 'Basic Z29vZC1rZXk=', text]) {
      assert.equal(await status(wrong), 401, wrong);
    }
  });

  it('says how to present a credential', async () => {
    const { hapi } = serverOf([touch]);
    const answer = await hapi.inject({ url: '/nowhere', headers: { authorization: 'Bearer x' } });
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
    assert.equal(json(answer).code, 'unauthorized');
  });

  it('lets no server be made for others than this machine', () => {
    for (const host of ['0.0.0.0', '::', '192.168.0.1']) {
      assert.throws(
        () => serverOf([], { host }),
        /Not a loopback address: .*Use 127\.0\.0\.1 or ::1/,
      );
    }
  });
});
