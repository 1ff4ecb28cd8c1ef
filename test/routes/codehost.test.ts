import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { incomingSecrets } from '../../store/webhooks/secrets.ts';
import { type CodeHost, startCodeHost } from '../codehost/code-host.ts';
import type { Failure } from '../codehost/failures.ts';
import { ghFor } from '../codehost/gh.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';
import { assertProblem } from '../helpers/work-item.ts';

const NO_TOKENS = {
  GH_TOKEN: '',
  GITHUB_TOKEN: '',
  GH_ENTERPRISE_TOKEN: '',
  GITHUB_ENTERPRISE_TOKEN: '',
};

interface Wanted {
  settings?: string;
  env?: Record<string, string>;
  /** The project's `origin`; none when it is empty. */
  origin?: string;
}

interface Asking extends Running {
  host: CodeHost;
  ask: (line: string, body?: object) => Promise<{ status: number; body: never; code: unknown }>;
}

/** The service on a project whose `origin` is `acme/app`, with the operator's token, and the fake host. */
const start = async (t: TestContext, wanted: Wanted = {}): Promise<Asking> => {
  const host = await startCodeHost(t);
  const { origin = 'https://github.com/acme/app.git', env, settings } = wanted;
  const running = await startForTest(t, {
    ...(settings !== undefined && { settings }),
    env: {
      ...NO_TOKENS,
      GH_CONFIG_DIR: temporaryDirectory(t),
      GITHUB_API_URL: host.url,
      GH_TOKEN: host.token,
      ...env,
    },
  });
  if (origin !== '') running.repository.git('remote', 'add', 'origin', origin);
  const ask: Asking['ask'] = async (line, body) => {
    const [method = '', path = ''] = line.split(' ');
    const answer = await running.call(method, `/api/codehost/${path}`, body);
    return { status: answer.status, body: answer.body as never, code: answer.body?.code };
  };
  return Object.assign(running, { host, ask });
};

const textsIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name), 'utf8'));

/** Every endpoint that asks the host about the repository. */
const ASKING = [
  'GET repo/validate',
  'GET repo/permissions',
  'GET repo/meta',
  'GET repo/labels',
  'GET repo/milestones',
  'GET repo/assignees',
  'GET issues/count',
  'POST issues/fetch',
  'GET issues/1/detail',
  'GET issues/1/comments',
  'GET issues/1/linked-prs',
];

describe('the endpoints that ask the code host', () => {
  it('answer what is there, and keep nothing of it', async (t) => {
    const { host, ask, workspace } = await start(t);
    const { number } = await host.issues.add({
      title: 'Broken',
      labels: ['bug'],
      comments: ['Yes.'],
    });
    await host.repositories.push({ branch: 'work/one' });
    const pull = await host.pulls.open('work/one');
    host.pulls.link(pull.number, number);
    const answers = await Promise.all(ASKING.map((line) => ask(line)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      ASKING.map(() => 200),
    );
    const [
      validation,
      permissions,
      meta,
      labels,
      ,
      assignees,
      count,
      page,
      issue,
      comments,
      linked,
    ] = answers.map(({ body }) => body) as Record<string, unknown>[];
    assert.equal(validation?.accessible, true);
    assert.equal(permissions?.role, 'write');
    assert.deepEqual([meta?.full_name, meta?.default_branch], ['acme/app', 'main']);
    assert.ok(JSON.stringify(labels).includes('"bug"'));
    assert.ok(JSON.stringify(assignees).includes('"operator"'));
    assert.deepEqual(count, { repository: 'acme/app', open: 1 });
    assert.deepEqual(page, { issues: [issue], next_cursor: null });
    assert.equal(issue?.title, 'Broken');
    assert.deepEqual(
      (comments as unknown as { body: string }[]).map(({ body }) => body),
      ['Yes.'],
    );
    assert.equal((linked as unknown as { relation: string }[])[0]?.relation, 'closes');
    const me = await ask('GET me');
    assert.equal((me.body as { login: string }).login, 'operator');
    assert.deepEqual(host.writes(), []);
    assert.ok(!textsIn(workspace).some((text) => text.includes(host.token)));
  });

  it('are 422 where there is no repository on a host, or none at all', async (t) => {
    const { ask } = await start(t, { origin: '', settings: 'projects: { other: ../none }' });
    for (const line of ASKING) {
      assert.equal((await ask(line)).code, 'codehost_repo_not_detected', line);
      assert.equal((await ask(`${line}?project=other`)).code, 'no_repository', line);
      assert.equal((await ask(`${line}?project=`)).status, 400, line);
    }
    assert.equal((await ask('GET issues/0/detail')).status, 400);
    assert.equal((await ask('POST issues/fetch', { labels: 'bug' })).status, 400);
  });

  it('are 422 without a token, and say what to run', async (t) => {
    const { ask, host } = await start(t, { env: { GH_TOKEN: '', PATH: '/usr/bin:/bin' } });
    for (const line of [...ASKING.slice(1), 'GET me']) {
      const { code, body } = await ask(line);
      assert.equal(code, 'codehost_auth_missing', line);
      assert.match((body as { detail: string }).detail, /gh auth login --hostname github\.com/);
    }
    assert.deepEqual(host.requests, []);
    assert.equal(((await ask('GET repo/validate')).body as { anonymous: boolean }).anonymous, true);
  });

  const FAILING: [how: Failure, graphql: Failure, status: number, code: string][] = [
    ['bad credentials', 'bad credentials', 422, 'codehost_auth_invalid'],
    ['rate limit', 'graphql rate limit', 429, 'codehost_rate_limited'],
    ['rejected', 'rejected', 422, 'codehost_rejected'],
    ['proxy 401', 'proxy 401', 502, 'codehost_gateway'],
    ['forbidden', 'graphql forbidden', 403, 'codehost_forbidden'],
    ['sso', 'graphql sso', 403, 'codehost_sso_required'],
    ['not found', 'graphql not found', 404, 'codehost_not_found'],
    ['gone', 'gone', 404, 'codehost_gone'],
  ];
  // Of these, that it may not be seen is the answer.
  const TOLERANT: Record<string, string[]> = {
    'GET repo/validate': ['forbidden', 'sso', 'not found', 'gone'],
    'GET repo/permissions': ['sso'],
  };

  const ROWS = [...ASKING, 'GET me'].flatMap((line) =>
    FAILING.map(([how, graphql, status, code]) => {
      const told = { line, how, graphql, status, code };
      const isAnswer = TOLERANT[line]?.includes(String(how)) === true;
      return isAnswer ? { ...told, status: 200, code: undefined } : told;
    }),
  );

  it('tell what the host said, in its own status', async (t) => {
    const { ask, host } = await start(t);
    for (const { line, how, graphql, status, code } of ROWS) {
      const rest = host.fail(how, { path: /^\/(repos|user)/ });
      const asked = host.fail(graphql, { path: '/graphql' });
      const answer = await ask(line);
      assert.deepEqual([answer.status, answer.code], [status, code], `${line}: ${how}`);
      // What it did not ask this time is not to fail the next.
      if (rest.hits === 0) await ask('GET repo/meta');
      if (asked.hits === 0) await ask('GET issues/count');
    }
  });

  it('are 429 with the time to wait for', async (t) => {
    const { host, call } = await start(t);
    host.fail('secondary limit');
    const { status, headers, body } = await call('GET', '/api/codehost/repo/meta');
    assert.deepEqual([status, headers['retry-after']], [429, '60']);
    assert.ok(Date.parse(String(body.reset_at)) > Date.now());
  });

  it('are 503 when the host is out of reach, 502 when it fails, 504 when it is silent', async (t) => {
    const { host, ask } = await start(t);
    const { fail } = host;
    fail('bad gateway', { times: 3 });
    assert.deepEqual([(await ask('GET repo/meta')).status, host.requests.length], [502, 3]);
    fail('silence', { times: 9, path: '/labels' });
    await ask('PUT settings', { timeout_seconds: 0.5 });
    assert.equal((await ask('GET repo/labels')).status, 504);
    await ask('PUT settings', { timeout_seconds: null });
    await host.stop();
    assert.equal((await ask('GET repo/meta')).status, 503);
    assert.equal((await ask('GET me')).code, 'codehost_unreachable');
    assert.equal((await ask('GET repo/detect')).status, 200);
    assert.equal((await ask('GET settings')).status, 200);
  });

  it('refuse an address that would show the token', async (t) => {
    const env = { GITHUB_API_URL: 'http://github.example/api' };
    const { ask } = await start(t, { env });
    const { status, code, body } = await ask('GET repo/meta');
    assert.deepEqual([status, code], [422, 'invalid_state']);
    assert.match((body as { detail: string }).detail, /GITHUB_API_URL must begin with https/);
  });
});

describe('GET /api/codehost/availability and auth/status', () => {
  const both = async ({ ask }: Asking) => {
    const availability = await ask('GET availability');
    const status = await ask('GET auth/status');
    assert.deepEqual([availability.status, status.status], [200, 200]);
    return [availability.body, status.body] as [Record<string, unknown>, Record<string, unknown>];
  };

  it('tell gh, the token and whose it is', async (t) => {
    const gh = ghFor(t);
    const asking = await start(t, { env: gh.env });
    const [availability, status] = await both(asking);
    const { cli, ...rest } = availability as { cli: Record<string, unknown> };
    assert.equal(cli.installed, true);
    assert.match(String(cli.version), /^\d+\.\d+/);
    assert.deepEqual(rest, { host: 'github.com', authenticated: 'yes', token_source: 'GH_TOKEN' });
    const { rate_limit, ...told } = status;
    assert.deepEqual(told, {
      authenticated: true,
      login: 'operator',
      token_source: 'GH_TOKEN',
      token_kind: 'classic',
      scopes: ['repo', 'read:org', 'gist'],
      expires_at: null,
    });
    assert.equal((rate_limit as { limit: number }).limit, 5000);
    assert.deepEqual(gh.calls(), [['--version']]);
  });

  it('tell a fine-grained token and when it ends', async (t) => {
    const asking = await start(t, { env: { GH_TOKEN: 'later' } });
    const token = asking.host.addToken({ scopes: null, expires: '2099-01-02 03:04:05 UTC' });
    Object.assign(asking.service.config.env, { GH_TOKEN: token });
    const [, status] = await both(asking);
    assert.deepEqual(
      [status.token_kind, status.scopes, status.expires_at],
      ['fine-grained', null, '2099-01-02T03:04:05.000Z'],
    );
  });

  it('tell apart: no gh, no token, a wrong token, nobody to ask, and a limit', async (t) => {
    const none = await start(t, { env: { GH_TOKEN: '', PATH: pathWithout(t) } });
    const [missing, hint] = await both(none);
    assert.deepEqual(missing, {
      host: 'github.com',
      cli: { installed: false, version: null },
      authenticated: 'no',
      token_source: null,
      reason: 'no_token',
    });
    assert.match(String(hint.hint), /gh auth login/);
    assert.equal(hint.authenticated, false);

    const asking = await start(t);
    asking.host.fail('bad credentials', { times: 2 });
    const [wrong, told] = await both(asking);
    assert.deepEqual([wrong.authenticated, wrong.reason], ['no', 'invalid_token']);
    assert.deepEqual([told.authenticated, told.token_source], [false, 'GH_TOKEN']);
    asking.host.fail('rate limit', { times: 2 });
    const [limited] = await both(asking);
    assert.deepEqual([limited.authenticated, limited.reason], ['unknown', 'rate_limited']);
    await asking.host.stop();
    const [unknown, nobody] = await both(asking);
    assert.deepEqual([unknown.authenticated, unknown.reason], ['unknown', 'unreachable']);
    assert.deepEqual([nobody.authenticated, nobody.reason], [null, 'unreachable']);
  });

  it('are about the host of the settings, else of the project', async (t) => {
    const origin = 'https://octocorp.ghe.com/acme/app.git';
    const { ask } = await start(t, { origin, env: { GH_TOKEN: '' } });
    assert.equal(
      ((await ask('GET availability')).body as { host: string }).host,
      'octocorp.ghe.com',
    );
  });
});

/** git is there, gh is not. */
const pathWithout = (t: TestContext): string => {
  const bin = temporaryDirectory(t);
  writeFileSync(join(bin, 'git'), '#!/bin/sh\nexec /usr/bin/env -S PATH=/usr/bin:/bin git "$@"\n', {
    mode: 0o755,
  });
  return bin;
};

describe('POST /api/codehost/auth/refresh', () => {
  it('reads the token again, and says whether it is another one', async (t) => {
    const gh = ghFor(t, { token: 'gho_nobody_knows' });
    const { ask, host } = await start(t, { env: { ...gh.env, GH_TOKEN: '' } });
    const first = await ask('POST auth/refresh');
    assert.deepEqual(first.body, {
      changed: false,
      token_source: 'gh',
      login: null,
      verified: false,
    });
    writeFileSync(
      join(gh.env.GH_CONFIG_DIR ?? '', 'hosts.yml'),
      `github.com:\n    oauth_token: ${host.token}\n    user: operator\n`,
    );
    const second = await ask('POST auth/refresh');
    assert.deepEqual(second.body, {
      changed: true,
      token_source: 'gh',
      login: 'operator',
      verified: true,
    });
    await host.stop();
    assert.equal(((await ask('POST auth/refresh')).body as { verified: null }).verified, null);
  });

  it('is 422 where there is none: without gh, and with it', async (t) => {
    const without = await start(t, { env: { GH_TOKEN: '', PATH: pathWithout(t) } });
    const missing = await without.ask('POST auth/refresh');
    assert.deepEqual([missing.status, missing.code], [422, 'codehost_cli_missing']);
    const gh = ghFor(t);
    const { ask } = await start(t, { env: { ...gh.env, GH_TOKEN: '' } });
    assert.equal((await ask('POST auth/refresh')).code, 'codehost_auth_missing');
  });
});

describe('GET /api/codehost/repo/detect', () => {
  it('tells it by git alone, and never a credential', async (t) => {
    const origin = 'https://me:ghp_nobodysees@github.com/me/app.git';
    const { ask, repository, host } = await start(t, { origin });
    repository.git('remote', 'add', 'upstream', 'git@github.com:acme/app.git');
    const { body } = await ask('GET repo/detect');
    const { base, push, ambiguous } = body as Record<string, { owner: string; remote: string }>;
    assert.deepEqual([base?.owner, push?.owner, ambiguous], ['acme', 'me', true]);
    assert.doesNotMatch(JSON.stringify(body), /nobodysees/);
    assert.deepEqual(host.requests, []);
  });

  it('is 404 with each remote and why, and 422 where there is no git repository', async (t) => {
    const { ask } = await start(t, { origin: '/srv/app.git', settings: 'projects: { a: none }' });
    const { status, code, body } = await ask('GET repo/detect');
    assert.deepEqual([status, code], [404, 'codehost_no_remote']);
    assert.deepEqual((body as { remotes: object[] }).remotes, [
      { name: 'origin', url: '/srv/app.git', reason: 'is a path on this machine' },
    ]);
    assert.equal((await ask('GET repo/detect?project=a')).code, 'no_repository');
  });
});

describe('GET /api/cases/{id}/github?hosted=true', () => {
  it('says whether a remote of the project is on a code host, where that can be told', async (t) => {
    const { call, repository } = await start(t, {
      ...{ origin: '/srv/app.git', settings: 'projects: { a: none }' },
    });
    const hostedOf = async (query: string, project?: string): Promise<unknown> => {
      const body = { title: 'One', type: 'bug', ...(project !== undefined && { project }) };
      const { body: item } = await call<{ id: string }>('POST', '/cases', body);
      const link = await call('GET', `/api/cases/${item.id}/github${query}`);
      return (link.body as { hosted?: boolean }).hosted;
    };
    assert.equal(await hostedOf('?hosted=true'), false);
    assert.equal(await hostedOf(''), undefined);
    assert.equal(await hostedOf('?hosted=true', 'a'), undefined);
    repository.git('remote', 'set-url', 'origin', 'https://github.com/acme/app.git');
    assert.equal(await hostedOf('?hosted=true'), true);
  });

  it('tells each project its own', async (t) => {
    const other = makeRepository(t);
    other.git('remote', 'add', 'origin', 'https://github.com/acme/other');
    const { ask } = await start(t, { settings: `projects: { other: ${other.root} }` });
    const { body } = await ask('GET repo/detect?project=other');
    assert.equal((body as { name: string }).name, 'other');
  });
});

describe('GET and PUT /api/codehost/settings', () => {
  const PATH = '/api/codehost/settings';
  const DEFAULTS = {
    kind: 'github',
    host: 'github.com',
    repository: null,
    base_remote: null,
    push_remote: null,
    api_url: null,
    timeout_seconds: 30,
    webhook_secret: 'unset',
  };

  it('tell what holds, and write what is given into workspace.md and no other byte', async (t) => {
    const settings = '# mine\ncodehost:\n  host: Ghe.Example # ours\nother: [1,  2]';
    const { call, workspace } = await start(t, { settings });
    assert.deepEqual((await call('GET', PATH)).body, { ...DEFAULTS, host: 'ghe.example' });
    const text = readFileSync(join(workspace, 'workspace.md'), 'utf8');
    const change = { repository: 'acme/app', timeout_seconds: 5 };
    const { status, body } = await call('PUT', PATH, change);
    assert.deepEqual([status, body], [200, { ...DEFAULTS, host: 'ghe.example', ...change }]);
    const after = readFileSync(join(workspace, 'workspace.md'), 'utf8');
    assert.equal(after.replace('  repository: acme/app\n  timeout_seconds: 5\n', ''), text);
    await call('PUT', PATH, { repository: null, timeout_seconds: null });
    assert.equal(readFileSync(join(workspace, 'workspace.md'), 'utf8'), text);
  });

  it('take a secret for incoming webhooks, keep it and the one before, and never tell them', async (t) => {
    const { call, workspace, service } = await start(t);
    const before = (await call('GET', PATH)).headers.etag;
    for (const webhook_secret of [
      'first-secret',
      'second-secret',
      'third-secret',
      'third-secret',
    ]) {
      const { body, text } = await call('PUT', PATH, { webhook_secret });
      assert.equal(body.webhook_secret, 'set');
      assert.doesNotMatch(text, /secret"?:"?(first|second|third)/);
    }
    const { layout } = service.store;
    assert.deepEqual(incomingSecrets(layout), ['third-secret', 'second-secret']);
    assert.equal(statSync(join(workspace, '.dossier/secrets/codehost')).mode & 0o777, 0o600);
    assert.notEqual((await call('GET', PATH)).headers.etag, before);
    const { body } = await call('PUT', PATH, { webhook_secret: null });
    assert.equal(body.webhook_secret, 'unset');
    assert.deepEqual(incomingSecrets(layout), []);
  });

  it('take back what they answered, and leave the file as it is', async (t) => {
    const { call, workspace } = await start(t, { settings: 'codehost: { host: ghe.example }' });
    const file = join(workspace, 'workspace.md');
    const before = readFileSync(file, 'utf8');
    const { body, headers } = await call('GET', PATH);
    const sentBack = await call('PUT', PATH, body);
    assert.deepEqual([sentBack.body, sentBack.headers.etag], [body, headers.etag]);
    assert.equal(readFileSync(file, 'utf8'), before);
    await call('PUT', PATH, { host: 'github.com' });
    assert.match(readFileSync(file, 'utf8'), /host: github\.com/);
  });

  it('take back what they answered without a change of the secret, and no such word as a new one', async (t) => {
    const { call, service } = await start(t);
    const { layout } = service.store;
    const sendBack = async () => call('PUT', PATH, (await call('GET', PATH)).body);
    assert.equal((await sendBack()).body.webhook_secret, 'unset');
    assert.deepEqual(incomingSecrets(layout), []);
    const refused = [400, 'bad_request', '/webhook_secret'] as const;
    assertProblem(await call('PUT', PATH, { webhook_secret: 'set' }), ...refused);
    await call('PUT', PATH, { webhook_secret: 'of-the-operator' });
    assert.equal((await sendBack()).body.webhook_secret, 'set');
    assertProblem(await call('PUT', PATH, { webhook_secret: 'unset' }), ...refused);
    assert.deepEqual(incomingSecrets(layout), ['of-the-operator']);
  });

  it('refuse what cannot be, each with its place, and write nothing', async (t) => {
    const { call, service } = await start(t);
    const before = (await call('GET', PATH)).headers.etag;
    const wrong: [object, string][] = [
      [{ kind: 'gitlab' }, '/kind'],
      [{ host: 'https://github.com' }, '/host'],
      [{ repository: 'acme' }, '/repository'],
      [{ repository: 'acme/../x' }, '/repository'],
      [{ base_remote: '--upload-pack=x' }, '/base_remote'],
      [{ api_url: 'ftp://x' }, '/api_url'],
      [{ api_url: 'http://github.example' }, '/api_url'],
      [{ api_url: 'https://user:pass@github.example' }, '/api_url'],
      [{ timeout_seconds: 0 }, '/timeout_seconds'],
      [{ webhook_secret: '' }, '/webhook_secret'],
      [{ webhook_secret: 'two\nlines' }, '/webhook_secret'],
      [{ token: 'x' }, '/token'],
    ];
    for (const [body, path] of wrong) {
      const answer = await call('PUT', PATH, { webhook_secret: 'kept-back', ...body });
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal((answer.body.errors as { path: string }[])[0]?.path, path);
    }
    assert.equal((await call('GET', PATH)).headers.etag, before);
    assert.deepEqual(incomingSecrets(service.store.layout), []);
  });

  it('are 412 when they changed since, the secret too, and 409 while the file cannot be read', async (t) => {
    const { call, workspace, service } = await start(t);
    const etag = String((await call('GET', PATH)).headers.etag);
    const late = { 'if-match': etag };
    await call('PUT', PATH, { webhook_secret: 'set-meanwhile' });
    const change = { host: 'a.example', webhook_secret: 'too-late' };
    assert.equal((await call('PUT', PATH, change, late)).status, 412);
    writeFileSync(join(workspace, 'workspace.md'), '---\ncodehost: [\n---\n');
    assert.equal((await call('PUT', PATH, change)).body.code, 'unreadable_record');
    assert.deepEqual(incomingSecrets(service.store.layout), ['set-meanwhile']);
  });

  it('let one of two win that were written on the same state', async (t) => {
    const { call } = await start(t);
    const held = { 'if-match': String((await call('GET', PATH)).headers.etag) };
    const both = [{ webhook_secret: 'one' }, { timeout_seconds: 7 }];
    const answers = await Promise.all(both.map((body) => call('PUT', PATH, body, held)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412]);
  });
});
