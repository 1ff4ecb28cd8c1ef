import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRemoteUrl } from '../../../lib/codehost/remote-url.ts';

const HOSTED: [url: string, host: string, by?: 'ssh'][] = [
  ['https://github.com/acme/app.git', 'github.com'],
  ['https://github.com/acme/app', 'github.com'],
  ['https://github.com/acme/app/', 'github.com'],
  ['https://github.com/acme/app.git/', 'github.com'],
  ['HTTPS://GitHub.com/acme/app', 'github.com'],
  ['https://www.github.com/acme/app', 'github.com'],
  ['https://github.com:443/acme/app.git', 'github.com'],
  ['https://user:token@github.com/acme/app.git', 'github.com'],
  ['https://x-access-token:ghp_x@github.com/acme/app', 'github.com'],
  ['http://github.com/acme/app.git', 'github.com'],
  ['git://github.com/acme/app.git', 'github.com'],
  ['git@github.com:acme/app.git', 'github.com', 'ssh'],
  ['git@github.com:acme/app', 'github.com', 'ssh'],
  ['git@github.com:/acme/app.git', 'github.com', 'ssh'],
  ['github.com:acme/app.git', 'github.com', 'ssh'],
  ['org-1234@github.com:acme/app.git', 'github.com', 'ssh'],
  ['ssh://git@github.com/acme/app.git', 'github.com', 'ssh'],
  ['ssh://github.com/acme/app', 'github.com', 'ssh'],
  ['ssh://git@github.com:22/acme/app.git', 'github.com', 'ssh'],
  ['ssh://git@ssh.github.com:443/acme/app.git', 'github.com', 'ssh'],
  ['git+ssh://git@github.com/acme/app.git', 'github.com', 'ssh'],
  ['ssh+git://git@github.com/acme/app.git', 'github.com', 'ssh'],
  ['https://ghe.example.com/acme/app.git', 'ghe.example.com'],
  ['https://ghe.example.com:8443/acme/app.git', 'ghe.example.com:8443'],
  ['ssh://git@ghe.example.com:2222/acme/app.git', 'ghe.example.com', 'ssh'],
  ['git@octocorp.ghe.com:acme/app.git', 'octocorp.ghe.com', 'ssh'],
  ['work:acme/app.git', 'work', 'ssh'],
  ['https://github.com.evil.example/acme/app', 'github.com.evil.example'],
  ['https://github.com@evil.example/acme/app', 'evil.example'],
  ['https://notgithub.com/acme/app', 'notgithub.com'],
];

const NONE: [url: string, why: RegExp][] = [
  ['', /no URL/],
  ['/srv/git/acme/app.git', /path/],
  ['../app.git', /path/],
  ['~/acme/app', /path/],
  ['acme/app', /path/],
  ['C:\\git\\acme\\app', /path/],
  ['C:/git/acme/app', /path/],
  ['file:///srv/acme/app.git', /path/],
  ['https://github.com/acme', /owner and a repository/],
  ['https://gitlab.com/group/sub/app.git', /owner and a repository/],
  ['https://gist.github.com/0123456789abcdef', /owner and a repository/],
  ['https://github.com/acme/app/tree/main', /owner and a repository/],
  ['https://github.com/', /owner and a repository/],
  ['https://github.com/acme/..', /owner and a repository|invalid owner or repository name/],
  ['git@github.com:acme/a b', /invalid owner or repository name/],
  ['git@github.com:~acme/app', /invalid owner or repository name/],
  ['https://github.com/-acme/app', /invalid owner or repository name/],
  ['https://github.com/acme/app%2F..', /owner and a repository/],
  ['ext::sh -c true', /helper/],
  ['codecommit://repo', /codecommit:\/\//],
  ['https://[/acme/app', /is not a valid URL/],
];

describe('parseRemoteUrl', () => {
  for (const [url, host, by = 'web'] of HOSTED)
    it(`finds acme/app on ${host} in ${url}`, () =>
      assert.deepEqual(parseRemoteUrl(url), { host, owner: 'acme', name: 'app', by }));

  for (const [url, why] of NONE)
    it(`says why ${url || 'nothing'} names no repository`, () => {
      const address = parseRemoteUrl(url);
      assert.match('why' in address ? address.why : JSON.stringify(address), why);
    });
});
