import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiOf } from '../../../../lib/codehost/github/address.ts';
import { graphqlUrl } from '../../../../lib/codehost/github/allow-list.ts';
import { ServiceError } from '../../../../lib/errors.ts';
import type { CodeHostSettings } from '../../../../store/records/settings.ts';

interface Row {
  host: string;
  env?: Record<string, string>;
  settings?: CodeHostSettings;
  api: string;
  graphql: string;
}

const OURS = 'https://api.example/x/';

const ROWS: Row[] = [
  {
    host: 'github.com',
    api: 'https://api.github.com',
    graphql: 'https://api.github.com/graphql',
  },
  {
    host: 'octocorp.ghe.com',
    api: 'https://api.octocorp.ghe.com',
    graphql: 'https://api.octocorp.ghe.com/graphql',
  },
  {
    host: 'ghe.example:8443',
    api: 'https://ghe.example:8443/api/v3',
    graphql: 'https://ghe.example:8443/api/graphql',
  },
  {
    host: 'localhost:443',
    api: 'https://localhost/api/v3',
    graphql: 'https://localhost/api/graphql',
  },
  {
    host: 'github.com',
    env: { GITHUB_API_URL: 'HTTPS://LocalHost:443/API/' },
    api: 'https://localhost/API',
    graphql: 'https://localhost/API/graphql',
  },
  {
    host: 'github.com',
    env: { GITHUB_API_URL: 'http://127.0.0.1:1/' },
    settings: { api_url: OURS },
    api: 'http://127.0.0.1:1',
    graphql: 'http://127.0.0.1:1/graphql',
  },
  {
    host: 'ghe.example',
    env: { GH_ENTERPRISE_TOKEN: 't' },
    settings: { host: 'GHE.example', api_url: OURS },
    api: 'https://api.example/x',
    graphql: 'https://api.example/x/graphql',
  },
  {
    host: 'ghe.example',
    env: { GITHUB_API_URL: OURS },
    api: 'https://ghe.example/api/v3',
    graphql: 'https://ghe.example/api/graphql',
  },
  {
    host: 'github.com',
    env: { GITHUB_API_URL: OURS },
    settings: { host: 'ghe.example' },
    api: 'https://api.github.com',
    graphql: 'https://api.github.com/graphql',
  },
];

describe('apiOf', () => {
  for (const { host, env = {}, settings = {}, api, graphql } of ROWS)
    it(`is ${api} for ${host} with ${JSON.stringify({ env, settings })}`, () => {
      assert.equal(apiOf(host, { env, settings }), api);
      assert.equal(graphqlUrl(api), graphql);
    });

  it('is none of another server, which would get a token that is not for it', () => {
    const wrong: [string, CodeHostSettings][] = [
      ['github.com', { api_url: 'https://evil.example' }],
      ['github.com', { api_url: 'https://api.github.com.evil.example' }],
      ['github.com', { api_url: 'http://127.0.0.1:9' }],
      ['octocorp.ghe.com', { host: 'octocorp.ghe.com', api_url: 'https://api.other.ghe.com' }],
      ['ghe.example', { host: 'ghe.example', api_url: 'https://evilghe.example' }],
    ];
    for (const [host, settings] of wrong)
      assert.throws(
        () => apiOf(host, { env: { GH_TOKEN: 't' }, settings }),
        (error) => error instanceof ServiceError && error.code === 'invalid_state',
      );
    const fine = { host: 'ghe.example', api_url: 'https://api.ghe.example/v3' };
    assert.equal(apiOf('ghe.example', { env: {}, settings: fine }), 'https://api.ghe.example/v3');
    const own = { api_url: 'https://api.github.com/' };
    assert.equal(apiOf('github.com', { env: {}, settings: own }), 'https://api.github.com');
  });

  it('is none that would show the token, or cannot be, and says which setting to change', () => {
    for (const wrong of [
      'http://ghe.example',
      'ftp://x',
      'nothing',
      'https://a:b@x',
      'https://x?y',
    ])
      assert.throws(
        () => apiOf('github.com', { env: {}, settings: { api_url: wrong } }),
        (error) =>
          error instanceof ServiceError &&
          error.code === 'invalid_state' &&
          error.message.startsWith('api_url in workspace.md'),
        wrong,
      );
  });
});
