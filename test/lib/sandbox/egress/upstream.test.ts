import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { localTargets } from '../../../../lib/sandbox/egress/run-network.ts';
import { proxyEnvironment, upstreamFor } from '../../../../lib/sandbox/egress/upstream.ts';

const goal = { host: 'api.example.com', port: 443 };

describe('upstreamFor', () => {
  it('finds the proxy of the operator, by the usual variables, with its user', () => {
    const found = upstreamFor({ HTTPS_PROXY: 'http://me:p%40ss@proxy.corp:3128' }, goal, 'https');
    assert.deepEqual(found, {
      ...{ host: 'proxy.corp', port: 3128, secure: false },
      authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    });
    assert.deepEqual(upstreamFor({ all_proxy: 'https://proxy.corp' }, goal, 'http'), {
      ...{ host: 'proxy.corp', port: 443, secure: true },
    });
    assert.deepEqual(
      upstreamFor({ https_proxy: '[::1]:8080', HTTPS_PROXY: 'http://b' }, goal, 'https'),
      { host: '::1', port: 8080, secure: false },
    );
    assert.equal(upstreamFor({ HTTP_PROXY: 'http://a' }, goal, 'https'), undefined);
    assert.equal(upstreamFor({}, goal, 'https'), undefined);
    assert.equal(upstreamFor({ HTTPS_PROXY: '' }, goal, 'https'), undefined);
  });

  it('passes by what NO_PROXY names, and no more', () => {
    const env = (NO_PROXY: string) => ({ HTTPS_PROXY: 'http://a:1', NO_PROXY });
    for (const list of [
      '*',
      'example.com',
      '.example.com',
      'x, *.example.com',
      'api.example.com:443',
    ])
      assert.equal(upstreamFor(env(list), goal, 'https'), undefined, list);
    for (const list of ['', 'ample.com', 'api.example.com:80', 'other.com'])
      assert.notEqual(upstreamFor(env(list), goal, 'https'), undefined, list);
  });

  it('says that one by socks cannot be used, and passes nothing by it', () => {
    for (const proxy of ['socks5://127.0.0.1:1080', 'socks5h://a:1', 'SOCKS4://a'])
      assert.match(String(upstreamFor({ ALL_PROXY: proxy }, goal, 'https')), /HTTPS_PROXY/);
    assert.match(
      String(upstreamFor({ ALL_PROXY: 'http://%ff@' }, goal, 'https')),
      /not a valid address/,
    );
  });
});

describe('proxyEnvironment', () => {
  it('names one proxy in both cases, and nothing of the operator', () => {
    const env = proxyEnvironment(14_870);
    for (const name of ['HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'])
      assert.equal(env[name], 'http://127.0.0.1:14870');
    assert.equal(env.NO_PROXY, 'localhost,127.0.0.1,::1');
    assert.equal(env.no_proxy, env.NO_PROXY);
  });
});

describe('localTargets', () => {
  it('are those listed, and those that variables lead to', () => {
    const given = {
      OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1',
      CONFIG: '{"a":"http://localhost:8080/x","b":"https://example.com:1"}',
      DATABASE_URL: 'postgres://me:secret@localhost:5432/db',
      PLAIN: 'http://[::1]/',
      HTTPS_PROXY: 'http://127.0.0.1:3128',
      ODD: 'http://',
      NONE: undefined,
    };
    assert.deepEqual(
      localTargets(['localhost:6379', '127.0.0.1:11434'], given).map(
        ({ host, port }) => `${host} ${port}`,
      ),
      [...['localhost 6379', '127.0.0.1 11434', 'localhost 8080', 'localhost 5432', '::1 80']],
    );
  });
});
