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
