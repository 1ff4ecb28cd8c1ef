import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { ProviderInfo } from '../../lib/agents/provider.ts';
import type { Tried } from '../../store/records/provider.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { startForTest } from '../helpers/service.ts';
import { type Problem, withAgent, withCase } from '../helpers/sessions.ts';

const withBehaviour = async (t: TestContext, behaviour: string) => {
  const options = withAgent(t, behaviour);
  mkdirSync(join(options.env?.HOME ?? '', '.test-agent'));
  return startForTest(t, options);
};

describe('GET /providers', () => {
  it('says of each whether it can be used, how Plan mode is held, and what to do', async (t) => {
    const { call } = await withBehaviour(t, 'plan');
    const { body } = await call<ProviderInfo[]>('GET', '/providers');
    const of = (id: string): ProviderInfo | undefined => body.find((each) => each.id === id);
    assert.deepEqual(of('manual'), {
      id: 'manual',
      kind: 'manual',
      available: true,
      isolation: 'operator',
      offers: { models: [], efforts: [] },
    });
    assert.deepEqual([of('agent')?.available, of('agent')?.isolation], [true, 'checked']);
    assert.equal(of('opencode')?.available, false);
    assert.match(of('opencode')?.reason ?? '', /opencode-ai/);
  });

  it('is not there without --dev', async (t) => {
    const { call } = await startForTest(t, { dev: false });
    for (const [method, path] of [
      ['GET', '/providers'],
      ['POST', '/providers/runbook/run'],
    ] as const) {
      const { status, body } = await call<Problem>(method, path, { prompt: 'Hi' });
      assert.deepEqual([status, body.code], [404, 'route_not_found']);
      assert.match(body.detail, /--dev/);
    }
  });
});

describe('GET /api/sessions/providers', () => {
  it('has all of them without --dev too, that of the settings first', async (t) => {
    const { call } = await startForTest(t, { dev: false, settings: 'provider: manual' });
    const { status, body } = await call<ProviderInfo[]>('GET', '/api/sessions/providers');
    assert.deepEqual([status, body[0]?.id], [200, 'manual']);
    assert.ok(body.some(({ id }) => id === 'runbook'));
  });

  it('starts no agent with probe=false, and says of each whether it is installed', async (t) => {
    const begun = join(temporaryDirectory(t), 'begun');
    const silent = `{ kind: acp, command: sh, args: [-c, 'touch ${begun}; exec sleep 600'] }`;
    const settings = `providers:\n  silent: ${silent}\n  gone: { kind: acp, command: /nosuch }`;
    const { call } = await startForTest(t, { settings });
    const at = '/api/sessions/providers?probe=false';
    const { body } = await call<ProviderInfo[]>('GET', at);
    const shown = body.filter(({ id }) => /^(?:runbook|manual|silent|gone)$/.test(id));
    assert.deepEqual(
      shown.map(({ id, kind, available, reason }) => [id, kind, available, reason === undefined]),
      [
        ['runbook', 'runbook', true, true],
        ['manual', 'manual', true, true],
        ['silent', 'acp', true, true],
        ['gone', 'acp', false, false],
      ],
    );
    assert.equal(existsSync(begun), false);
  });
});

describe('the settings of providers', () => {
  it('are taken up by the next session when they are edited, and kept when the edit is wrong', async (t) => {
    const test = await withCase(t, 'Plan it.', { settings: 'provider: manual', watch: true });
    const { running } = test;
    const edit = (settings: string): void =>
      writeFileSync(join(running.workspace, 'workspace.md'), `---\n${settings}\n---\n`);
    const first = await test.start();
    edit('provider: mine\nproviders:\n  mine: { kind: command, work: [echo, hi] }');
    await eventually(() => assert.equal(running.service.providers().chosen, 'mine'));
    const second = await test.start();
    assert.deepEqual([first.provider, second.provider], ['manual', 'mine']);

    edit('provider: other\nmax_sessions: many');
    const problems = async (): Promise<string> =>
      (await running.call('GET', '/api/diagnostics')).text;
    await eventually(async () => assert.match(await problems(), /max_sessions/));
    assert.equal((await test.start()).provider, 'mine');
    edit('provider: runbook');
    await eventually(() => assert.equal(running.service.providers().chosen, 'runbook'));
    assert.doesNotMatch(await problems(), /max_sessions/);
  });
});

describe('POST /providers/{id}/run', () => {
  it('has the agent answer the prompt, word for word, in a directory that is gone afterwards', async (t) => {
    const { call, workspace } = await withBehaviour(t, 'echo');
    const { status, body } = await call<Tried>('POST', '/providers/agent/run', {
      prompt: 'Hello.',
    });
    assert.equal(status, 200);
    assert.deepEqual([body.outcome, body.output, body.error], ['completed', 'Hello.', null]);
    assert.deepEqual(readdirSync(join(workspace, '.dossier/tmp')), []);
  });

  it('tells why there was no answer', async (t) => {
    const { call } = await withBehaviour(t, 'crash');
    const { status, body } = await call<Tried>('POST', '/providers/agent/run', {
      prompt: 'Hello.',
    });
    assert.deepEqual([status, body.outcome, body.output], [200, 'failed', '']);
    assert.match(body.error ?? '', /7|out of luck/);
  });

  it('is refused for a provider that is not there, not installed, or a person', async (t) => {
    const { call } = await startForTest(t, { env: { HOME: '/nonexistent' } });
    for (const [id, status, code] of [
      ['nobody', 404, 'not_found'],
      ['opencode', 503, 'unavailable'],
      ['manual', 422, 'invalid_state'],
    ] as const) {
      const answer = await call<Problem>('POST', `/providers/${id}/run`, { prompt: 'Hello.' });
      assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text);
    }
  });
});
