import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Trusted, TrustedValue, WaitingValue } from '../../store/records/trust.ts';
import { openReceiver } from '../helpers/receiver.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';
import { assertProblem } from '../helpers/work-item.ts';

const write = ({ workspace }: Running, yaml: string): void =>
  writeFileSync(join(workspace, 'workspace.md'), `---\n${yaml}\n---\n`);

const waiting = async ({ call }: Running): Promise<WaitingValue[]> =>
  (await call<WaitingValue[]>('GET', '/trust')).body;

const keysOf = async (running: Running): Promise<string[]> =>
  (await waiting(running)).map(({ key }) => key);

const newCase = async ({ call }: Running, body: object = {}): Promise<string> => {
  const made = await call<{ id: string }>('POST', '/cases', {
    title: 'Work',
    type: 'bug',
    description: '```sh\ntrue\n```\n',
    ...body,
  });
  assert.equal(made.status, 201, made.text);
  return made.body.id;
};

const distrustful = (t: TestContext, settings?: string): Promise<Running> =>
  startForTest(t, { trust: false, ...(settings !== undefined && { settings }) });

const PING = { jsonrpc: '2.0', id: 1, method: 'x' };

const CANARY = (path: string): string => `touch ${path}`;

describe('a setting that came in the file', () => {
  it('does not hold, is told, and keeps a session that needs it from being made', async (t) => {
    const running = await distrustful(t);
    const canary = join(temporaryDirectory(t), 'canary');
    write(
      running,
      `provider: evil\nproviders:\n  evil: { kind: command, plan: [sh, -c, "${CANARY(canary)}"], work: [sh, -c, "${CANARY(canary)}"] }`,
    );
    assert.deepEqual(await keysOf(running), ['provider', 'providers.evil']);
    const id = await newCase(running);
    const refused = await running.call('POST', `/cases/${id}/sessions`, { type: 'investigation' });
    const problem = assertProblem(refused, 422, 'trust_needed');
    assert.match(problem.detail, /provider \(workspace\.md:2\).*dossier trust/);
    const named = await running.call('POST', `/cases/${id}/sessions`, {
      type: 'investigation',
      provider: 'evil',
    });
    assertProblem(named, 422, 'trust_needed');
    const { body } = await running.call<{ code: string; line: number }[]>(
      'GET',
      '/api/diagnostics',
    );
    assert.deepEqual(
      body.map(({ code, line }) => [code, line]),
      [['trust_needed', 2]],
    );
    const warned = running.logged.filter(({ message }) => /dossier trust/.test(message));
    assert.equal(warned.length, 1);
    assert.equal(existsSync(canary), false);
  });

  it('holds once it is trusted, and after a restart, and when it comes again', async (t) => {
    const running = await distrustful(t);
    write(running, 'worktrees: { setup: ["true"] }');
    const [value] = await waiting(running);
    assert.deepEqual([value?.value, value?.trusted_value], [['true'], null]);
    const { status, body } = await running.call<Trusted>('POST', '/trust', {
      values: [{ key: value?.key, hash: value?.hash }],
    });
    assert.deepEqual([status, body], [200, { trusted: ['worktrees.setup'], waiting: [] }]);
    await running.restart();
    assert.deepEqual(await keysOf(running), []);
    write(running, 'worktrees: {}');
    assert.deepEqual(await keysOf(running), []);
    write(running, 'worktrees: { setup: ["true"] }');
    assert.deepEqual(await keysOf(running), []);
    assert.deepEqual((await running.call('GET', '/api/diagnostics')).body, []);
  });

  it('is asked for each time where it turns the sandbox off, as of an older workspace.md', async (t) => {
    const running = await distrustful(t, 'sandbox: off');
    assert.equal((await running.call('POST', '/trust', { all: true })).status, 200);
    await running.restart();
    assert.deepEqual(await keysOf(running), []);
    write(running, 'sandbox: auto');
    assert.deepEqual(await keysOf(running), []);
    write(running, 'sandbox: off');
    const [value] = await waiting(running);
    assert.deepEqual([value?.key, value?.value, value?.trusted_value], ['sandbox', 'off', 'auto']);
    const seen = [{ key: value?.key, hash: value?.hash }];
    assert.equal((await running.call('POST', '/trust', { values: seen })).status, 200);
    assert.deepEqual(await keysOf(running), []);
  });

  it('is looked at by its value: another one between look and yes is refused, and nothing holds', async (t) => {
    const running = await distrustful(t);
    write(running, 'sandbox: off\nworktrees: { setup: [a] }');
    const seen = (await waiting(running)).map(({ key, hash }) => ({ key, hash }));
    write(running, 'sandbox: off\nworktrees: { setup: [b] }');
    assertProblem(
      await running.call('POST', '/trust', { values: seen }),
      412,
      'precondition_failed',
    );
    assert.deepEqual(await keysOf(running), ['sandbox', 'worktrees.setup']);
  });

  it('is trusted once, however many say so at the same time', async (t) => {
    const running = await distrustful(t);
    write(running, 'sandbox: off');
    const values = (await waiting(running)).map(({ key, hash }) => ({ key, hash }));
    const answers = await Promise.all(
      [1, 2, 3].map(() => running.call<Trusted>('POST', '/trust', { values })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual(answers.map(({ body }) => body.trusted.length).toSorted(), [0, 0, 1]);
  });

  it('waits again when .dossier was removed while no daemon ran', async (t) => {
    const running = await distrustful(t);
    write(running, 'sandbox: off');
    await running.call('POST', '/trust', { all: true });
    await running.stop();
    rmSync(join(running.workspace, '.dossier'), { recursive: true });
    await running.restart();
    assert.deepEqual(await keysOf(running), ['sandbox']);
  });

  it('leaves the last trusted one in force when it is another, which a session does not go by', async (t) => {
    const running = await distrustful(t);
    write(running, 'worktrees: { root: /tmp/one }');
    await running.call('POST', '/trust', { all: true });
    write(running, 'worktrees: { root: /tmp/two }');
    const config = await running.call('GET', '/api/worktrees/config');
    assert.equal(config.body.root, '/tmp/one');
    const id = await newCase(running);
    assertProblem(
      await running.call('POST', '/api/worktrees', { case_id: id }),
      422,
      'trust_needed',
    );
  });

  it('waits where taking it away opens something to anybody, and keeps what was trusted meanwhile', async (t) => {
    const running = await distrustful(t);
    const claude = 'providers: { claude: { kind: acp, network: proxy } }';
    const networkNow = () => running.service.providers().get('claude')?.boundary().network;
    write(running, `network: host\n${claude}`);
    await running.call('POST', '/trust', { all: true });
    const before = networkNow();
    write(running, 'network: host');
    assert.deepEqual(await keysOf(running), ['providers.claude']);
    assert.deepEqual(networkNow(), before);
    write(running, 'network: proxy');
    assert.deepEqual(await keysOf(running), []);
    assert.deepEqual(networkNow(), before);
  });

  it('holds as it was written by the API, and what else is in the file does not', async (t) => {
    const running = await distrustful(t);
    write(running, 'sandbox: off');
    await running.call('PUT', '/api/worktrees/config', { setup: ['make'] });
    await running.call('PUT', '/api/codehost/settings', { push_remote: 'mine' });
    assert.deepEqual(await keysOf(running), ['sandbox']);
    assert.deepEqual((await running.call('GET', '/api/worktrees/config')).body.setup, ['make']);
    await running.call('PUT', '/api/worktrees/config', { setup: null });
    assert.deepEqual(await keysOf(running), ['sandbox']);
  });

  it('waits where it came as the path of a project on this machine', async (t) => {
    const running = await distrustful(t);
    const there = temporaryDirectory(t);
    const text = `---\nprojects: { app: ${there} }\n---\n`;
    writeFileSync(join(running.workspace, '.dossier/local.md'), text);
    assert.deepEqual(await keysOf(running), ['projects.app']);
    const asked = await running.call('POST', '/projects/app/files', { path: 'a' });
    assertProblem(asked, 422, 'trust_needed');
    await running.call('POST', '/trust', { all: true });
    assert.deepEqual(await keysOf(running), []);
  });

  it('is refused where a project, a language server or the code host is asked for by it', async (t) => {
    const running = await distrustful(
      t,
      'projects: { app: /tmp/app }\nlanguage_servers: { rust: { command: /bin/false } }\ncodehost: { repository: acme/app, api_url: "http://127.0.0.1:9" }',
    );
    const asked = await Promise.all([
      running.call('POST', '/cases', { title: 'A', type: 'bug', project: 'app' }),
      running.call('POST', '/projects/app/files', { path: 'a' }),
      running.call('POST', '/lsp/rust/message', { project_id: 'default', message: PING }),
      running.call('GET', '/api/codehost/issues/count'),
      running.call('GET', '/api/codehost/repo/detect'),
    ]);
    assert.deepEqual(
      asked.map(({ status, body }) => [status, body.code]),
      asked.map(() => [422, 'trust_needed']),
    );
  });
});

describe('a receiver of events that came in a file', () => {
  const file = (url: string, more = ''): string =>
    `---\nid: 6f0f0b7e-9d4c-4a53-8c43-3c8a0d6f7a11\nurl: ${url}\n${more}created_at: 2026-01-01T00:00:00.000Z\n---\n`;

  it('is sent nothing until it is trusted, and from then on what comes', async (t) => {
    const running = await startForTest(t, { trust: false, watch: true });
    const receiver = await openReceiver(t);
    const id = await newCase(running);
    writeHook(running.workspace, file(receiver.url));
    const other = file(receiver.url).replace('6f0f', '7f0f');
    writeHook(join(running.workspace, await pathOf(running, id)), other);
    const listed = await running.call<object[]>('GET', '/webhooks');
    assert.deepEqual(
      listed.body.map((one) => (one as { trusted?: boolean }).trusted),
      [false],
    );
    await running.call('PUT', `/cases/${id}/state`, { state: 'BLOCKED' });
    assert.deepEqual((await keysOf(running)).length, 2);
    await running.call('POST', '/trust', { all: true });
    await running.call('PUT', `/cases/${id}/state`, { state: 'OPEN' });
    const sent = await receiver.atLeast(2);
    assert.ok(
      sent.every(({ body }) => body.includes('"new_state":"OPEN"')),
      JSON.stringify(sent),
    );
  });

  it('goes on as the operator made it when somebody changes its address', async (t) => {
    const running = await startForTest(t, { trust: false, watch: true });
    const [mine, theirs] = [await openReceiver(t), await openReceiver(t)];
    const made = await running.call<{ id: string; trusted?: boolean }>('POST', '/webhooks', {
      url: mine.url,
    });
    assert.equal(made.body.trusted, undefined);
    const path = join(running.workspace, 'webhooks', `${made.body.id}.md`);
    writeFileSync(
      path,
      `---\nid: ${made.body.id}\nurl: ${theirs.url}\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n`,
    );
    assert.deepEqual(await keysOf(running), [`webhooks/${made.body.id}`]);
    const id = await newCase(running);
    await running.call('PUT', `/cases/${id}/state`, { state: 'BLOCKED' });
    await mine.atLeast(1);
    assert.equal(theirs.received.length, 0);
    await running.call('POST', '/trust', { all: true });
    await running.call('PUT', `/cases/${id}/state`, { state: 'OPEN' });
    await theirs.atLeast(1);
  });
});

describe('a receiver of events that was trusted', () => {
  it('waits where a file names events that * does not stand for', async (t) => {
    const running = await startForTest(t, { trust: false });
    const { body } = await running.call<{ id: string }>('POST', '/webhooks', {
      ...{ url: 'http://127.0.0.1:9/x', events: ['*'] },
    });
    const key = `webhooks/${body.id}`;
    const path = join(running.workspace, `${key}.md`);
    const made = readFileSync(path, 'utf8');
    const change = async (events: string): Promise<string[]> => {
      writeFileSync(path, made.replace(/^events:.*\n(?: *- .*\n)*/m, `events: ${events}\n`));
      await running.call('GET', '/webhooks');
      return keysOf(running);
    };
    assert.deepEqual(await change('[permission_requested]'), [key]);
    assert.deepEqual(await change("['*', problem_found]"), [key]);
    assert.deepEqual(await change('[case_updated]'), []);
  });
});

const pathOf = async ({ call }: Running, id: string): Promise<string> =>
  (await call<{ path: string }>('GET', `/cases/${id}`)).body.path;

const writeHook = (dir: string, text: string): void => {
  const folder = join(dir, 'webhooks');
  if (!existsSync(folder)) mkdirSync(folder);
  writeFileSync(join(folder, 'x.md'), text);
};

describe('trust that is taken back', () => {
  const trusted = async ({ call }: Running): Promise<[string, unknown][]> =>
    (await call<TrustedValue[]>('GET', '/trusted')).body.map(({ key, value }) => [key, value]);
  const takeBack = ({ call }: Running, key: string) =>
    call('DELETE', `/trusted/${encodeURIComponent(key)}`);

  it('has a setting wait again, with every value that was ever trusted, over a restart too', async (t) => {
    const running = await distrustful(t);
    for (const network of ['host', '{ allow: [example.com] }']) {
      write(running, `network: ${network}`);
      await running.call('POST', '/trust', { all: true });
    }
    write(running, 'sandbox: off\nnetwork: host');
    await running.call('POST', '/trust', { all: true });
    assert.deepEqual(await trusted(running), [
      ['network', 'host'],
      ['sandbox', 'off'],
    ]);
    for (const key of ['network', 'sandbox'])
      assert.equal((await takeBack(running, key)).status, 204);
    assert.deepEqual(await keysOf(running), ['sandbox', 'network']);
    await running.restart();
    assert.deepEqual(await keysOf(running), ['sandbox', 'network']);
    assert.deepEqual(await trusted(running), []);
    const id = await newCase(running);
    const refused = await running.call('POST', `/cases/${id}/sessions`, { type: 'investigation' });
    assertProblem(refused, 422, 'trust_needed');
    await running.call('POST', '/trust', { all: true });
    assert.deepEqual(await keysOf(running), []);
  });

  it('leaves what is stricter than the defaults in force, whatever the file says', async (t) => {
    const running = await distrustful(t);
    write(running, 'network: { allow: [example.com] }');
    await running.call('POST', '/trust', { all: true });
    write(running, 'max_sessions: 3');
    assert.deepEqual(await keysOf(running), ['network']);
    // It applied unasked, and was never trusted by itself.
    assertProblem(await takeBack(running, 'network'), 404, 'not_found');
    const put = { network: { allow: ['example.com'] } };
    running.service.store.consent.grant([{ key: 'network', value: put.network }]);
    assert.equal((await takeBack(running, 'network')).status, 204);
    write(running, 'max_sessions: 3');
    assert.deepEqual(await keysOf(running), ['network']);
  });

  it('has a receiver sent nothing more', async (t) => {
    const running = await distrustful(t);
    const receiver = await openReceiver(t);
    const { body } = await running.call<{ id: string }>('POST', '/webhooks', {
      url: receiver.url,
    });
    const key = `webhooks/${body.id}`;
    assert.deepEqual(
      (await trusted(running)).map(([each]) => each),
      [key],
    );
    assert.equal((await takeBack(running, key)).status, 204);
    assert.deepEqual(await keysOf(running), [key]);
    const id = await newCase(running);
    await running.call('PUT', `/cases/${id}/state`, { state: 'BLOCKED' });
    await running.call('POST', '/trust', { all: true });
    await running.call('PUT', `/cases/${id}/state`, { state: 'OPEN' });
    const [first] = await receiver.atLeast(1);
    assert.match(first?.body ?? '', /"new_state":"OPEN"/);
  });

  it('is 404 for what is not trusted', async (t) => {
    const running = await distrustful(t);
    for (const key of ['sandbox', 'api-keys/x', 'sessions/x/approved', 'cases/a/webhooks/b'])
      assertProblem(await takeBack(running, key), 404, 'not_found');
  });
});
