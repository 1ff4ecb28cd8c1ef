import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cleanEnvironment } from '../../../../lib/tools/process/environment.ts';

describe('cleanEnvironment', () => {
  it('keeps what programs need and nothing else', () => {
    const kept = {
      HOME: '/home/o',
      LANG: 'C',
      LC_TIME: 'C',
      TERM: 'dumb',
      https_proxy: 'http://p',
    };
    const dropped = {
      GH_TOKEN: 's',
      GIT_DIR: '/evil',
      GIT_CONFIG_COUNT: '1',
      NODE_OPTIONS: '-r x',
    };
    assert.deepEqual(cleanEnvironment({ ...kept, ...dropped, USER: undefined }), kept);
  });

  it('keeps certificate authorities and registries, the latter without logins', () => {
    const kept = { NODE_EXTRA_CA_CERTS: '/etc/corp.pem', GIT_SSL_CAINFO: '/etc/corp.pem' };
    const given = {
      PIP_INDEX_URL: 'https://me:SECRET@pypi.corp.example/simple',
      GOPROXY: 'https://me:SECRET@go.corp.example,direct',
      'npm_config_@corp:registry': 'https://npm.corp.example/',
      npm_config__auth: 'SECRET',
      UV_PUBLISH_TOKEN: 'SECRET',
    };
    assert.deepEqual(cleanEnvironment({ ...kept, ...given }), {
      ...kept,
      PIP_INDEX_URL: 'https://pypi.corp.example/simple',
      GOPROXY: 'https://go.corp.example,direct',
      'npm_config_@corp:registry': 'https://npm.corp.example/',
    });
  });

  it('lets what is given win over what is inherited', () => {
    const env = cleanEnvironment({ HOME: '/home/o' }, { HOME: '/tmp/h', API_KEY: 'given' });
    assert.deepEqual(env, { HOME: '/tmp/h', API_KEY: 'given' });
  });

  it('drops relative and empty entries of PATH', () => {
    assert.equal(
      cleanEnvironment({ PATH: '.::node_modules/.bin:/usr/bin:/bin' }).PATH,
      '/usr/bin:/bin',
    );
  });
});
