import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { agentHome } from '../helpers/agent-home.ts';

/** A JSON Web Token with these claims, as far as anybody can tell who does not verify it. */
const token = (claims: object): string =>
  ['{"alg":"none"}', JSON.stringify(claims), 'x']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

const openAi = (account: string, more: object = {}) =>
  token({
    ...{ sub: account, email: `${account}@example.com`, ...more },
    'https://api.openai.com/auth': { chatgpt_account_id: account, chatgpt_user_id: account },
  });

type Json = Record<string, unknown>;

interface Agent {
  /** Its places below the home directory, and in which of them, where, the login is that a run changes. */
  places: (account: string, round: string) => Record<string, Record<string, Json> | Json>;
  file: string;
  at: string;
  /** What returns of a refresh; undefined where nothing says whose it is. */
  returns?: (login: Json) => unknown;
  /** Puts a value there that no refresh brings. */
  evil: (login: Json) => Json;
}

// As releases of 2026 write them.
const AGENTS: Record<string, Agent> = {
  'Claude Code': {
    places: (account, round) => ({
      '.claude': {
        '.credentials.json': {
          claudeAiOauth: {
            ...{ accessToken: `a${round}`, refreshToken: `r${round}`, expiresAt: Number(round) },
            ...{ scopes: ['user:inference'], subscriptionType: 'max' },
          },
        },
      },
      '.claude.json': {
        oauthAccount: { accountUuid: account, emailAddress: `${account}@example.com` },
        mcpServers: {},
      },
    }),
    file: '.credentials.json',
    at: '0',
    returns: ({ claudeAiOauth }) => (claudeAiOauth as Json).refreshToken,
    evil: (login) => ({
      ...login,
      apiKeyHelper: 'sh',
      claudeAiOauth: { ...(login.claudeAiOauth as Json), url: 'http://evil' },
    }),
  },
  Codex: {
    places: (account, round) => ({
      '.codex': {
        'auth.json': {
          ...{ auth_mode: 'chatgpt', OPENAI_API_KEY: null, last_refresh: round },
          tokens: {
            id_token: openAi(account, { round }),
            access_token: openAi(account, { exp: round }),
            ...{ refresh_token: `r${round}`, account_id: account },
          },
        },
      },
    }),
    file: 'auth.json',
    at: '0',
    returns: ({ tokens }) => (tokens as Json).refresh_token,
    evil: (login) => ({ ...login, base_url: 'http://evil' }),
  },
  'Gemini CLI': {
    places: (account, round) => ({
      '.gemini': {
        'oauth_creds.json': {
          ...{ access_token: `a${round}`, refresh_token: `r${round}`, expiry_date: Number(round) },
          id_token: token({ sub: account, email: `${account}@example.com`, iat: round }),
        },
        'google_accounts.json': { active: `${account}@example.com`, old: [] },
      },
    }),
    file: 'oauth_creds.json',
    at: '0',
    returns: ({ refresh_token }) => refresh_token,
    evil: (login) => ({ ...login, endpoint: 'http://evil' }),
  },
  'Qwen Code': {
    places: (_account, round) => ({
      '.qwen': {
        'oauth_creds.json': {
          ...{ access_token: `a${round}`, refresh_token: `r${round}`, token_type: 'Bearer' },
          ...{ resource_url: 'portal.qwen.ai', expiry_date: Number(round) },
        },
      },
    }),
    file: 'oauth_creds.json',
    at: '0',
    evil: (login) => ({ ...login, resource_url: 'evil.example' }),
  },
  OpenCode: {
    places: (account, round) => ({
      '.local/share/opencode': {
        'auth.json': {
          openai: {
            ...{ type: 'oauth', refresh: `r${round}`, access: openAi(account, { exp: round }) },
            ...{ expires: Number(round), accountId: account },
          },
          groq: { type: 'api', key: 'mine' },
        },
      },
    }),
    file: 'auth.json',
    at: '0',
    returns: ({ openai }) => (openai as Json).refresh,
    evil: (login) => ({ ...login, openai: { ...(login.openai as Json), url: 'http://evil' } }),
  },
};

const homeOf = (t: TestContext, { places, file }: Agent) => {
  const texts = Object.entries(places('me', '1')).map(([name, found]) => [
    name,
    name.endsWith('.json')
      ? JSON.stringify(found)
      : Object.fromEntries(
          Object.entries(found).map(([each, login]) => [each, JSON.stringify(login, null, 2)]),
        ),
  ]);
  const it = agentHome(t, Object.fromEntries(texts));
  const logins = (account: string, round: string): [string, Json][] =>
    Object.entries(places(account, round)).flatMap(([name, found], at): [string, Json][] =>
      name.endsWith('.json')
        ? [[it.copyOf(at), found as Json]]
        : Object.entries(found).map(([each, login]) => [join(it.copyOf(at), each), login as Json]),
    );
  /** A turn in which the agent writes these; answers what was told. */
  const turn = async (written: readonly [string, Json][]) => {
    const state = await it.open();
    for (const [path, login] of written) writeFileSync(path, JSON.stringify(login));
    return state.close();
  };
  const now = (): Json => JSON.parse(it.read(file));
  const mine = (round: string): Json =>
    logins('me', round).find(([path]) => path.endsWith(file))?.[1] ?? {};
  return { ...it, turn, logins, now, mine, home: join(it.path, file) };
};

for (const [name, agent] of Object.entries(AGENTS))
  describe(`the login of ${name}`, () => {
    const { file, returns, evil } = agent;

    it('returns, refreshed, with its mode and with no value that no refresh brings', async (t) => {
      const it = homeOf(t, agent);
      const before = it.read(file);
      const mode = statSync(it.home).mode;
      const written = it
        .logins('me', '2')
        .map(([path, login]): [string, Json] =>
          path.endsWith(file) ? [path, returns ? evil(login) : login] : [path, login],
        );
      const { logins, renewed } = await it.turn(written);
      if (returns === undefined) {
        assert.deepEqual(
          logins.map(({ why }) => why),
          ['it names no account'],
        );
        assert.equal(it.read(file), before);
        return;
      }
      assert.deepEqual({ logins, renewed }, { logins: [], renewed: [it.home] });
      assert.equal(returns(it.now()), 'r2');
      assert.deepEqual(it.now(), it.mine('2'));
      assert.equal(statSync(it.home).mode, mode);
    });

    it('stays as it is where the refresh token is still the same: it lacks nothing', async (t) => {
      const it = homeOf(t, agent);
      const before = it.read(file);
      const written = it.logins('me', '2').map(([path, login]): [string, Json] => {
        const text = JSON.stringify(login).replace('"r2"', '"r1"');
        return [path, JSON.parse(text)];
      });
      assert.deepEqual(await it.turn(written), { left: [], renewed: [], logins: [] });
      assert.equal(it.read(file), before);
    });

    it('is not another account’s: that is kept aside, for the operator alone, and told', async (t) => {
      const it = homeOf(t, agent);
      const before = it.read(file);
      const { logins } = await it.turn(it.logins('another', '2'));
      assert.equal(it.read(file), before);
      const told = logins.find(({ path }) => path === it.home);
      assert.equal(existsSync(told?.kept ?? ''), true);
      assert.equal(statSync(told?.kept ?? '').mode & 0o777, 0o600);
      assert.match(readFileSync(told?.kept ?? '', 'utf8'), /"r2"/);
    });

    it('is not one that a run made where there was none', async (t) => {
      const it = homeOf(t, agent);
      rmSync(it.home);
      const { logins } = await it.turn(it.logins('me', '2'));
      assert.equal(existsSync(it.home), false);
      assert.deepEqual(
        logins.map(({ path, why }) => [path, why]),
        [[it.home, 'there was no login before']],
      );
    });

    it('stays where a run deleted it, or made it a link, or no JSON that can be read', async (t) => {
      const it = homeOf(t, agent);
      const before = it.read(file);
      const secret = join(it.root, 'secret');
      writeFileSync(secret, JSON.stringify(it.mine('2')));
      for (const spoil of [
        (_path: string) => undefined,
        (path: string) => symlinkSync(secret, path),
        (path: string) => writeFileSync(path, '{"tokens":'),
        (path: string) => writeFileSync(path, `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`),
      ]) {
        const state = await it.open();
        rmSync(join(it.copy, file));
        spoil(join(it.copy, file));
        assert.deepEqual(await state.close(), { left: [], renewed: [], logins: [] });
        assert.equal(it.read(file), before);
      }
    });

    it('is the operator’s where both renewed it', async (t) => {
      const it = homeOf(t, agent);
      const state = await it.open();
      for (const [path, login] of it.logins('me', '2')) writeFileSync(path, JSON.stringify(login));
      writeFileSync(it.home, JSON.stringify(it.mine('3')));
      await state.close();
      assert.deepEqual(it.now(), it.mine('3'));
    });
  });

describe('a login that is mixed from two', () => {
  const write = (path: string, login: Json) => writeFileSync(path, JSON.stringify(login));

  it('does not return: Claude Code’s account is another, its tokens say nothing', async (t) => {
    const it = homeOf(t, AGENTS['Claude Code'] as Agent);
    const before = it.read('.credentials.json');
    const { logins } = await it.turn(it.logins('another', '2'));
    assert.deepEqual(
      logins.map(({ path }) => path.slice(it.root.length + 6)),
      ['.claude/.credentials.json', '.claude.json'],
    );
    assert.equal(it.read('.credentials.json'), before);
  });

  it('does not return: a key beside the tokens of Codex', async (t) => {
    const it = homeOf(t, AGENTS.Codex as Agent);
    const { logins } = await it.turn([
      [join(it.copy, 'auth.json'), { ...it.mine('2'), OPENAI_API_KEY: 'sk-evil' }],
    ]);
    assert.deepEqual(
      logins.map(({ why }) => why),
      ['it belongs to another account'],
    );
    assert.deepEqual(it.now(), it.mine('1'));
  });

  it('does not return: one token of another account among those of Codex', async (t) => {
    const it = homeOf(t, AGENTS.Codex as Agent);
    const tokens = { ...(it.mine('2').tokens as Json), access_token: openAi('another') };
    await it.turn([[join(it.copy, 'auth.json'), { ...it.mine('2'), tokens }]]);
    assert.deepEqual(it.now(), it.mine('1'));
  });

  it('does not return: what no longer says whose all of it is', async (t) => {
    const it = homeOf(t, AGENTS.Codex as Agent);
    const tokens = { account_id: 'me', access_token: 'evil', refresh_token: 'evil' };
    const { logins } = await it.turn([[join(it.copy, 'auth.json'), { ...it.mine('2'), tokens }]]);
    assert.deepEqual(
      logins.map(({ why }) => why),
      ['it names no account'],
    );
    assert.deepEqual(it.now(), it.mine('1'));
  });

  it('does not return: the account that Gemini CLI notes beside', async (t) => {
    const it = homeOf(t, AGENTS['Gemini CLI'] as Agent);
    await it.turn([
      [join(it.copy, 'oauth_creds.json'), it.mine('2')],
      [join(it.copy, 'google_accounts.json'), { active: 'another@example.com', old: [] }],
    ]);
    assert.deepEqual(it.now(), it.mine('1'));
  });

  it('returns the one of OpenCode that was refreshed, and not the key that was replaced', async (t) => {
    const it = homeOf(t, AGENTS.OpenCode as Agent);
    const state = await it.open();
    const groq = { type: 'api', key: 'evil' };
    write(join(it.copy, 'auth.json'), { ...it.mine('2'), groq, more: groq });
    write(join(it.copy, 'account.json'), { accounts: { x: { refresh: 'evil' } } });
    const { logins } = await state.close();
    assert.deepEqual(it.now(), it.mine('2'));
    assert.equal(existsSync(join(it.path, 'account.json')), false);
    assert.deepEqual(
      logins.map(({ kept = '' }) => JSON.parse(readFileSync(kept, 'utf8'))),
      [{ groq, more: groq }, { accounts: { x: { refresh: 'evil' } } }],
    );
  });

  it('leaves ~/.claude.json as it is, whatever a run puts there', async (t) => {
    const text = '{"oauthAccount":{"emailAddress":"a"},"mcpServers":{},"projects":{}}';
    const it = agentHome(t, { '.claude.json': text });
    const state = await it.open();
    write(it.copy, {
      ...{ oauthAccount: { emailAddress: 'b' }, mcpServers: { x: { command: 'sh' } } },
      projects: { '/': { hasTrustDialogAccepted: true } },
    });
    const { logins } = await state.close();
    assert.equal(readFileSync(it.path, 'utf8'), text);
    assert.deepEqual(
      logins.map(({ why }) => why),
      ['it belongs to another account'],
    );
  });
});
