import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { HostedRepository } from '../../../../lib/codehost/code-host.ts';
import type { ErrorCode } from '../../../../lib/errors.ts';
import { startCodeHost } from '../../../codehost/code-host.ts';
import type { Failure } from '../../../codehost/failures.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { clientOf, refusal, startAsking } from './fixture.ts';

interface Row {
  how: Failure;
  code: ErrorCode;
  /** Of a write, where it is another. */
  written?: ErrorCode;
  /** How often a read asks in all; once where the answer is final. */
  reads?: number;
  /** Whether nobody can know what became of a write. */
  unknown?: boolean;
}

const REST: Row[] = [
  { how: 'bad credentials', code: 'codehost_auth_invalid' },
  { how: 'proxy 401', code: 'codehost_gateway' },
  { how: 'proxy 407', code: 'codehost_gateway', reads: 3 },
  { how: 'forbidden', code: 'codehost_forbidden' },
  { how: 'sso', code: 'codehost_sso_required' },
  { how: 'rate limit', code: 'codehost_rate_limited' },
  { how: 'rate limit 429', code: 'codehost_rate_limited' },
  { how: 'secondary limit', code: 'codehost_rate_limited' },
  { how: 'secondary limit 429', code: 'codehost_rate_limited' },
  { how: 'not found', code: 'codehost_not_found' },
  { how: 'gone', code: 'codehost_gone' },
  { how: 'conflict', code: 'codehost_rejected', written: 'codehost_conflict' },
  { how: 'rejected', code: 'codehost_rejected' },
  { how: 'server error', code: 'codehost_upstream', reads: 3, unknown: true },
  { how: 'bad gateway', code: 'codehost_upstream', reads: 3, unknown: true },
  { how: 'unavailable', code: 'codehost_upstream', reads: 3, unknown: true },
  { how: 'reset', code: 'codehost_unreachable', reads: 3, unknown: true },
  { how: 'truncated', code: 'codehost_unreachable', reads: 3, unknown: true },
];

const GRAPHQL: Row[] = [
  { how: 'graphql rate limit', code: 'codehost_rate_limited' },
  { how: 'graphql forbidden', code: 'codehost_forbidden' },
  { how: 'graphql not found', code: 'codehost_not_found' },
  { how: 'graphql sso', code: 'codehost_sso_required' },
  { how: 'bad gateway', code: 'codehost_upstream', reads: 3 },
  { how: 'reset', code: 'codehost_unreachable', reads: 3 },
];

const NEW = { title: 'A', body: '', head: 'work/one', base: 'main', draft: true };
const write = (hosted: HostedRepository) => hosted.createPull(NEW);

const PAGE = { 'content-type': 'text/html', 'x-github-request-id': '' };
const AWAY = { ...PAGE, location: 'https://login.example/' };

const STRANGE: Row[] = [
  {
    how: { status: 200, headers: PAGE, body: '<p>Log in</p>' },
    code: 'codehost_gateway',
    unknown: true,
  },
  {
    how: { status: 504, headers: PAGE, body: '<p>Gateway timeout</p>' },
    code: 'codehost_gateway',
    reads: 3,
    unknown: true,
  },
  { how: { status: 302, headers: AWAY, body: '' }, code: 'codehost_gateway' },
  {
    how: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"full' },
    code: 'codehost_gateway',
    unknown: true,
  },
];

for (const enterprise of [false, true]) {
  describe(`what fails on ${enterprise ? 'an Enterprise server' : 'github.com'}`, () => {
    const rows = enterprise ? REST.slice(0, 4) : [...REST, ...STRANGE];

    it('has one code for a read, which is repeated where that may help, and a write, which never is', async (t) => {
      const { host, hosted } = await startAsking(t, { enterprise });
      for (const { how, code, written = code, reads = 1, unknown = false } of rows) {
        const what = JSON.stringify(how);
        const began = host.requests.length;
        host.fail(how, { method: 'GET', times: reads });
        assert.equal((await refusal(hosted.meta())).code, code, what);
        assert.equal(host.requests.length - began, reads, `${what}: reads`);
        host.fail(how, { method: 'POST' });
        const refused = await refusal(write(hosted));
        assert.equal(refused.code, written, what);
        assert.equal(refused.members.outcome, unknown ? 'unknown' : undefined, what);
        assert.equal(
          /may have been made: check acme\/app on \S+ before/.test(refused.message),
          unknown,
          what,
        );
        assert.equal(host.requests.length - began, reads + 1, `${what}: writes`);
      }
    });

    it('is told of GraphQL as of REST, and a query is repeated as a read is', async (t) => {
      const { host, hosted } = await startAsking(t, { enterprise });
      for (const { how, code, reads = 1 } of GRAPHQL) {
        const began = host.requests.length;
        host.fail(how, { path: '/graphql', times: reads });
        assert.equal((await refusal(hosted.countOpenIssues())).code, code, String(how));
        assert.equal(host.requests.length - began, reads, String(how));
      }
    });
  });
}

describe('what an error is about', () => {
  it('is the thread for a mutation, and each kind of record for what is gone', async (t) => {
    const { host, hosted } = await startAsking(t);
    host.fail('forbidden', { graphql: 'resolveReviewThread' });
    const refused = await refusal(hosted.resolveThread(1, 'PRRT_1'));
    assert.match(refused.message, /refused access to the thread PRRT_1 /);
    host.fail('gone', { graphql: 'pullRequest' });
    const gone = await refusal(hosted.pull(1));
    assert.equal(gone.code, 'codehost_gone');
    assert.match(gone.message, /acme\/app#1 is gone .*pr\/pr\.md for a pull request\.$/);
  });
});

describe('a connection', () => {
  it('that nobody takes is out of reach, and a write is known not to be done', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.stop();
    assert.equal((await refusal(hosted.meta())).code, 'codehost_unreachable');
    const refused = await refusal(write(hosted));
    assert.deepEqual([refused.code, refused.members.outcome], ['codehost_unreachable', undefined]);
  });

  it('on which no answer comes ends after the time in the settings, without another try', async (t) => {
    const host = await startCodeHost(t);
    const { hosted } = clientOf(host, { settings: { timeout_seconds: 0.5 } });
    host.fail('silence', { times: 9 });
    const read = await refusal(hosted.meta());
    assert.equal(read.code, 'codehost_timeout');
    assert.ok(host.requests.length <= 1);
    assert.match(read.message, /within 0\.5 s/);
    const refused = await refusal(write(hosted));
    assert.deepEqual([refused.code, refused.members.outcome], ['codehost_timeout', 'unknown']);
    assert.ok(host.writes().length <= 1);
  });

  it('goes through the proxy that the environment names, but to hosts that it excepts', async (t) => {
    const host = await startCodeHost(t);
    const proxy = await startProxy(t);
    const through = { HTTP_PROXY: proxy.url };
    const { hosted } = clientOf(host, { env: through });
    assert.equal((await hosted.meta()).full_name, 'acme/app');
    assert.equal(await hosted.countOpenIssues(), 0);
    const asked = proxy.asked.length;
    assert.ok(asked > 0);
    const excepted = clientOf(host, { env: { ...through, NO_PROXY: '127.0.0.1' } });
    await excepted.hosted.meta();
    assert.equal(proxy.asked.length, asked);
    proxy.refuse = true;
    const refused = await refusal(clientOf(host, { env: through }).hosted.meta());
    assert.deepEqual([refused.code, refused.members.host_status], ['codehost_gateway', 407]);
  });
});

/** A proxy as companies have it: it opens tunnels, or asks for a login. */
const startProxy = async (t: TestContext) => {
  const server = createServer();
  const proxy = { url: '', asked: [] as string[], refuse: false };
  server.on('connect', ({ url = '' }, socket) => {
    proxy.asked.push(url);
    if (proxy.refuse) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const there = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    for (const end of [there, socket])
      end.on('error', () => [there, socket].map((each) => each.destroy()));
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
};
