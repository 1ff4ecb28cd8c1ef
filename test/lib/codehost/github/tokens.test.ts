import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createTokens } from '../../../../lib/codehost/github/tokens.ts';
import { createGh } from '../../../../lib/tools/process/gh.ts';
import { startCodeHost } from '../../../codehost/code-host.ts';
import { ghFor } from '../../../codehost/gh.ts';
import { clientOf, refusal } from './fixture.ts';

const none = { token: async () => undefined };
const gh = { token: async () => 'of-gh' };
const known = () => true;

const ALL = {
  GH_TOKEN: 'one',
  GITHUB_TOKEN: 'two',
  GH_ENTERPRISE_TOKEN: 'three',
  GITHUB_ENTERPRISE_TOKEN: 'four',
};

describe('the token of a host', () => {
  const rows: [string, Record<string, string>, string | undefined][] = [
    ['github.com', ALL, 'GH_TOKEN'],
    ['github.com', { ...ALL, GH_TOKEN: '' }, 'GITHUB_TOKEN'],
    ['github.com', { ...ALL, GH_TOKEN: 'a b', GITHUB_TOKEN: 'a\nb' }, 'gh'],
    ['octocorp.ghe.com', ALL, 'GH_TOKEN'],
    ['ghe.example', ALL, 'GH_ENTERPRISE_TOKEN'],
    ['ghe.example', { GH_TOKEN: 'x', GITHUB_ENTERPRISE_TOKEN: 'y' }, 'GITHUB_ENTERPRISE_TOKEN'],
    ['ghe.example', { GH_TOKEN: 'x', GITHUB_TOKEN: 'y' }, 'gh'],
    ['github.com.evil.example', { GH_TOKEN: 'x' }, 'gh'],
    ['evilghe.com', { GH_TOKEN: 'x' }, 'gh'],
  ];
  for (const [host, env, source] of rows)
    it(`is that of ${source} for ${host} with ${Object.keys(env).join(', ')}`, async () => {
      assert.equal((await createTokens(env, gh, known).of(host))?.source, source);
    });

  it('goes to no host that only a file names, and no request does', async (t) => {
    const host = await startCodeHost(t);
    const { client } = clientOf(host);
    const named = { host: 'evil.example', owner: 'acme', name: 'app' };
    assert.equal(await client.gitLogin(named.host), undefined);
    const { code, message } = await refusal(client.repository(named).pull(1));
    assert.equal(code, 'invalid_state');
    assert.match(message, /^evil\.example is not a code host of this workspace/);
  });

  it('is asked of gh once, and again when there was none', async () => {
    let asked = 0;
    const counting = { token: async () => (++asked === 1 ? undefined : 'now') };
    const tokens = createTokens({}, counting, known);
    assert.equal(await tokens.of('github.com'), undefined);
    assert.deepEqual(await tokens.of('github.com'), { value: 'now', source: 'gh' });
    await Promise.all([tokens.of('github.com'), tokens.of('github.com')]);
    assert.equal(asked, 2);
    assert.equal(await createTokens({}, none, known).of('github.com'), undefined);
  });
});

describe('a token that the host does not take', () => {
  it('is asked for once more, and a read goes on with the new one; a write does not', async (t) => {
    const host = await startCodeHost(t);
    const [old, renewed] = [host.addToken(), host.addToken()];
    const operators = ghFor(t, { token: old });
    const { hosted } = clientOf(host, { env: { ...operators.env, GH_TOKEN: undefined } });
    await hosted.meta();
    host.revoke(old);
    login(operators.env.GH_CONFIG_DIR ?? '', renewed);
    assert.equal((await hosted.meta()).full_name, 'acme/app');
    assert.equal(await hosted.countOpenIssues(), 0);
    host.revoke(renewed);
    login(operators.env.GH_CONFIG_DIR ?? '', host.addToken());
    const wanted = { title: 'A', body: '', head: 'x', base: 'main', draft: true };
    assert.equal((await refusal(hosted.createPull(wanted))).code, 'codehost_auth_invalid');
    assert.equal(host.writes().length, 1);
    assert.equal((await hosted.meta()).full_name, 'acme/app');
    for (const call of operators.calls())
      assert.deepEqual(call, ['auth', 'token', '--hostname', 'github.com']);
  });

  it('is named by where it is from, and never itself', async (t) => {
    const host = await startCodeHost(t);
    const bad = 'ghp_notoneofthehosts';
    const { hosted, client } = clientOf(host, { env: { GH_TOKEN: bad } });
    const refused = await refusal(hosted.meta());
    assert.deepEqual(
      [refused.code, refused.members.token_source],
      ['codehost_auth_invalid', 'GH_TOKEN'],
    );
    const told = [
      refused,
      await client.authStatus('github.com'),
      await client.availability('github.com'),
    ];
    assert.doesNotMatch(JSON.stringify(told) + String(refused.stack), new RegExp(bad));
  });
});

const login = (config: string, token: string): void =>
  writeFileSync(
    join(config, 'hosts.yml'),
    `github.com:\n    oauth_token: ${token}\n    user: operator\n    git_protocol: https\n`,
  );

describe('gh', () => {
  it('is asked for its version and for a token of its own, and for nothing else', async (t) => {
    const operators = ghFor(t, { token: 'gho_kept' });
    const program = createGh({ ...operators.env, GH_TOKEN: 'of-the-environment' });
    assert.match((await program.version()) ?? '', /^\d+\.\d+/);
    assert.equal(await program.token('github.com'), 'gho_kept');
    assert.equal(await program.token('ghe.example'), undefined);
    assert.deepEqual(program.hosts(), ['github.com']);
    assert.deepEqual(operators.calls(), [
      ['--version'],
      ['auth', 'token', '--hostname', 'github.com'],
      ['auth', 'token', '--hostname', 'ghe.example'],
    ]);
  });

  it('that is not installed has neither', async () => {
    const program = createGh({ PATH: '/nowhere', HOME: '/nowhere' });
    assert.deepEqual(
      [program.program(), await program.version(), await program.token('github.com')],
      [undefined, undefined, undefined],
    );
    assert.deepEqual(program.hosts(), []);
  });
});
