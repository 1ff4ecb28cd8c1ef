import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cargo,
  type Format,
  gh,
  npmrc,
  pip,
  uv,
  withoutLogins,
  yarnrc,
  yarnrcYml,
} from '../../../lib/sandbox/tool-config.ts';

/** Each file as an operator has it, and as a run sees it. */
const FILES: Record<string, { format: Format; file: string; shown: string }> = {
  '.npmrc': {
    format: npmrc,
    file: `; mine: npm_SECRET
registry=https://me:SECRET@npm.corp.example/
@corp:registry = "https://npm.corp.example/a/?token=SECRET"
//npm.corp.example/:_authToken=npm_SECRET
//npm.corp.example/:_password = "SECRET"
//npm.other.example/:_authToken=\${NPM_TOKEN}
//npm.third.example/:_authToken=\${NPM_TOKEN}SECRET
_auth=SECRET
https-proxy=http://me:SECRET@proxy.example:3128
init-author-name=SECRET
cafile=/etc/corp.pem
save-exact=true
`,
    shown: `registry=https://npm.corp.example/
@corp:registry = "https://npm.corp.example/a/"
//npm.other.example/:_authToken=\${NPM_TOKEN}
cafile=/etc/corp.pem
save-exact=true
`,
  },
  '.yarnrc': {
    format: yarnrc,
    file: `registry "https://me:SECRET@npm.corp.example"
"@corp:registry" "https://npm.corp.example"
"//npm.corp.example/:_authToken" SECRET
lastUpdateCheck 1
`,
    shown: `registry "https://npm.corp.example"
"@corp:registry" "https://npm.corp.example"
`,
  },
  '.yarnrc.yml': {
    format: yarnrcYml,
    file: `npmRegistryServer: "https://npm.corp.example"
npmAuthToken: SECRET
npmScopes:
  corp:
    npmRegistryServer: "https://npm.corp.example/corp"
    npmAuthToken: "\${NPM_TOKEN}"
  other:
    npmAuthIdent: "me:SECRET"
    npmAuthToken: >-
      SECRET
    httpsCaFilePath: ~/corp.pem
`,
    shown: `npmRegistryServer: "https://npm.corp.example"
npmScopes:
  corp:
    npmRegistryServer: "https://npm.corp.example/corp"
    npmAuthToken: "\${NPM_TOKEN}"
  other:
    httpsCaFilePath: ~/corp.pem
`,
  },
  'pip.conf': {
    format: pip,
    file: `[global]
index-url = https://me:SECRET@pypi.corp.example/simple
extra-index-url: https://one.example/simple
    https://me:SECRET@two.example/simple
proxy = http://me:SECRET@proxy.example
    https://me:SECRET@three.example
trusted-host = pypi.corp.example
cert = /etc/corp.pem
password = SECRET
`,
    shown: `[global]
index-url = https://pypi.corp.example/simple
extra-index-url: https://one.example/simple
    https://two.example/simple
trusted-host = pypi.corp.example
cert = /etc/corp.pem
`,
  },
  'uv.toml': {
    format: uv,
    file: `native-tls = true
[[index]]
name = "corp"
url = "https://me:SECRET@pypi.corp.example/simple"
authenticate = "SECRET"
`,
    shown: `native-tls = true
[[index]]
name = "corp"
url = "https://pypi.corp.example/simple"
`,
  },
  'config.toml': {
    format: cargo,
    file: `registries.other.index = "sparse+https://me:SECRET@other.example/"
registries.other.token = "SECRET"
[registries.corp]
index = "sparse+https://crates.corp.example/"
  token = "SECRET"
credential-provider = "cargo:token-from-stdout SECRET"
[env]
index = "SECRET"
[http]
proxy = "me:SECRET@proxy.example"
cainfo = "/etc/corp.pem"
`,
    shown: `registries.other.index = "sparse+https://other.example/"
[registries.corp]
index = "sparse+https://crates.corp.example/"
[http]
cainfo = "/etc/corp.pem"
`,
  },
  'hosts.yml': {
    format: gh,
    file: `github.com:
    user: me
    oauth_token: gho_SECRET
    git_protocol: https
    users:
        me:
            oauth_token: gho_SECRET
`,
    shown: `github.com:
    user: me
    git_protocol: https
    users:
        me:
`,
  },
};

describe('the settings of a tool, as a run sees them', () => {
  for (const [name, { format, file, shown }] of Object.entries(FILES))
    it(`${name}: registries without logins`, () => {
      assert.equal(withoutLogins(file, format).text, shown);
      const windows = withoutLogins(file.replaceAll('\n', '\r\n'), format).text;
      assert.equal(windows, shown);
    });

  it('name their certificate authorities', () => {
    const named = Object.values(FILES).flatMap(
      ({ format, file }) => withoutLogins(file, format).certificates,
    );
    assert.deepEqual(named, ['/etc/corp.pem', '~/corp.pem', '/etc/corp.pem', '/etc/corp.pem']);
  });

  it('ask the public registry for no private scope where they cannot be read', () => {
    const scopes = 'npmScopes: { corp: { npmRegistryServer: "https://x", npmAuthToken: SECRET } }';
    assert.equal(withoutLogins(scopes, yarnrcYml).text, '{\n');
    const odd = '@corp:registry=https://npm.example/gho_SECRETSECRET/';
    assert.equal(withoutLogins(odd, npmrc).text, '@corp:registry=https://hidden.invalid/\n');
  });
});
