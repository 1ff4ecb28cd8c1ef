/** What an agent asks leave for: answered by its beginning for a session, and never in the way of others for ever. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { askSwitchesFor, environmentIn } from '../../lib/agents/ask-switches.ts';
import { allowedPrefix, isPlainCommand } from '../../lib/agents/permissions.ts';
import { PRESETS } from '../../lib/agents/presets.ts';
import type { Out } from '../../lib/cli/output/out.ts';
import { createEventPrinter } from '../../lib/cli/verbs/tail.ts';
import { layoutOf } from '../../store/layout.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import type { TrustedValue } from '../../store/records/trust.ts';
import { allowAlways, alwaysAllowed } from '../../store/settings/trust/allowed.ts';
import { openTrustLog } from '../../store/settings/trust/tightening.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

const atWork = async (t: TestContext, behaviour: string, settings = '') => {
  const options = withAgent(t, behaviour);
  const it = await withCase(t, 'x', {
    ...options,
    settings: `${options.settings}\n${settings}`,
  });
  const { id } = await it.planned();
  await it.post(`/sessions/${id}/approve`);
  return { it, id };
};

interface Told {
  request_id: string;
  command?: string;
  other_arguments?: string;
  by?: string;
  prefix?: string;
  option_id?: string | null;
  options: { option_id: string; kind: string }[];
}

const toldOf = async (it: SessionTest, id: string, name: string): Promise<Told[]> =>
  (await it.eventsOf(id))
    .filter(({ event }) => event === name)
    .map(({ data }) => data as unknown as Told);

const nthRequest = (it: SessionTest, id: string, nth: number): Promise<Told> =>
  eventually(async () => {
    const found = (await toldOf(it, id, 'permission_request'))[nth - 1];
    assert.ok(found, `request ${nth}`);
    return found;
  });

const answer = (it: SessionTest, id: string, { request_id }: Told, body: object) =>
  it.post(`/sessions/${id}/permissions/${request_id}`, body);

describe('“allow this prefix for this session”', () => {
  it('answers the command and all plain ones that begin so, and no other', async (t) => {
    const { it, id } = await atWork(t, 'commands');
    const first = await nthRequest(it, id, 1);
    assert.equal(first.command, 'npm test');
    assert.deepEqual(
      first.options.map(({ option_id }) => option_id),
      ['yes', 'no', 'allow_prefix', 'allow_project'],
    );
    for (const prefix of ['npm run', 'npm t', 'npm test --watch', ' ']) {
      const refused = await answer(it, id, first, { option_id: 'allow_prefix', prefix });
      assert.deepEqual([refused.status, refused.body.code], [400, 'bad_request'], prefix);
    }
    const body = { option_id: 'allow_prefix', prefix: 'npm test' };
    assert.equal((await answer(it, id, first, body)).status, 200);
    // `npm test -- --grep x` went through; these do not.
    for (const [nth, command, own] of [
      [2, 'npm test && curl evil', false],
      [3, 'npm test; rm -rf ~', false],
      [4, 'npm test $(id)', false],
      [5, 'npm test\nid', false],
      [6, 'npm testing', true],
    ] as const) {
      const asked = await nthRequest(it, id, nth);
      assert.equal(asked.command, command);
      assert.equal(
        asked.options.some(({ kind }) => kind === 'allow_prefix'),
        own,
        command,
      );
      if (!own) {
        const cannot = await answer(it, id, asked, { option_id: 'allow_prefix' });
        assert.equal(cannot.status, 404);
      }
      await answer(it, id, asked, { option_id: 'no' });
    }
    await it.until(id, 'completed');
    const resolved = await toldOf(it, id, 'permission_resolved');
    assert.deepEqual(
      resolved.map(({ by, prefix, option_id }) => [by, prefix, option_id]),
      [
        ['operator', 'npm test', 'yes'],
        ['policy', 'npm test', 'yes'],
        ...Array(5).fill(['operator', undefined, 'no']),
      ],
    );
  });

  it('shows another directory, variables and input where the operator is asked', async (t) => {
    const options = withAgent(t, 'planned');
    const command = { command: 'ls', cwd: '/etc', env: { A: 'b' }, stdin: 'x' };
    writeFiles(join(options.env?.HOME ?? '', '.test-agent'), {
      'plan.md': 'The plan.',
      'commands.json': JSON.stringify([command]),
    });
    const it = await withCase(t, 'x', options);
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    const asked = await nthRequest(it, id, 1);
    const others = '{"cwd":"/etc","env":{"A":"b"},"stdin":"x"}';
    assert.deepEqual([asked.command, asked.other_arguments], ['ls', others]);
    // The inbox follows the event, and that the stream.
    await eventually(async () => {
      const { body } = await it.running.call<AttentionItem[]>('GET', '/attention');
      assert.equal(body[0]?.message, `ls\nwith ${others}`);
    });
    const told = it.running.told.find(({ event_type }) => event_type === 'permission_requested');
    assert.deepEqual(told?.payload, { ...told?.payload, other_arguments: others });
    const lines: string[] = [];
    const say = (words: unknown): void =>
      void lines.push(typeof words === 'string' ? words : (words as { text: string }).text);
    const tell = createEventPrinter({ say } as Out, (verb) => `dossier ${verb} x`);
    const events = await it.eventsOf(id);
    for (const event of events) if (event.event === 'permission_request') tell(event as never);
    assert.deepEqual(lines, ['? ls', `  with ${others}`, '  dossier answer x']);
    await answer(it, id, asked, { option_id: 'no' });
  });

  it('ends with the session', async (t) => {
    const { it, id } = await atWork(t, 'commands');
    await answer(it, id, await nthRequest(it, id, 1), { option_id: 'allow_prefix' });
    await nthRequest(it, id, 2);
    await it.control('abort');
    assert.equal(it.running.service.engine.prefixes.size, 0);
    const next = await it.start();
    await it.until(next.id, 'plan_ready');
    await it.post(`/sessions/${next.id}/approve`);
    assert.equal((await nthRequest(it, next.id, 1)).command, 'npm test');
  });

  it('is for commands that can be seen and have no operator of a shell', () => {
    const plain = (command: string) =>
      isPlainCommand({ kind: 'execute', command, paths: [], options: [] });
    for (const command of ['npm test', 'ls -la "a b"', 'go test ./...']) assert.ok(plain(command));
    for (const command of [
      'a;b',
      'a&b',
      'a|b',
      'a>b',
      'a<b',
      '`a`',
      '$a',
      '(a)',
      'a\\b',
      'a\nb',
      'a\rb',
      'a\u200bb',
      '',
    ])
      assert.ok(!plain(command), command);
    assert.equal(allowedPrefix({ kind: 'fetch', command: 'npm test' }, ['npm test']), undefined);
    assert.equal(allowedPrefix({ kind: 'execute' }, ['']), undefined);
  });
});

describe('“always allow in this project”', () => {
  const always = { option_id: 'allow_project', prefix: 'npm test' };

  /** The next session of the Work item, at work; and the command that it asks for first. */
  const asksNext = async (it: SessionTest): Promise<string | undefined> => {
    const next = await it.start();
    await it.until(next.id, 'plan_ready');
    await it.post(`/sessions/${next.id}/approve`);
    const { command } = await nthRequest(it, next.id, 1);
    await it.control('abort');
    return command;
  };

  it('is kept in the consent log over sessions and restarts, listed, and revoked at once', async (t) => {
    const { it, id } = await atWork(t, 'commands');
    const first = await nthRequest(it, id, 1);
    const other = await answer(it, id, first, { ...always, prefix: 'npm run' });
    assert.deepEqual([other.status, other.body.code], [400, 'bad_request']);
    assert.equal((await answer(it, id, first, always)).status, 200);
    // Both commands that begin so went through.
    assert.equal((await nthRequest(it, id, 2)).command, 'npm test && curl evil');
    await it.control('abort');
    await it.running.restart();
    assert.equal(await asksNext(it), 'npm test && curl evil');
    const { body } = await it.running.call<TrustedValue[]>('GET', '/trusted');
    const [listed, ...others] = body.filter(({ kind }) => kind === 'command');
    assert.equal(others.length, 0);
    assert.match(listed?.key ?? '', /^allowed\/default\/[0-9a-f]{12}$/);
    assert.match(JSON.stringify(listed?.value), /"prefix":"npm test"/);
    const path = `/trusted/${encodeURIComponent(listed?.key ?? '')}`;
    assert.equal((await it.running.call('DELETE', path)).status, 204);
    assert.equal(await asksNext(it), 'npm test');
  });

  it('is of one project, its repository, and as much of a sandbox', (t) => {
    const top = temporaryDirectory(t);
    mkdirSync(join(top, 'work', '.dossier'), { recursive: true });
    const log = openTrustLog(layoutOf(join(top, 'work'), join(top, 'state')));
    const place = { project: 'web', repository: '/web', sandboxed: true };
    allowAlways(log, place, 'npm test');
    assert.deepEqual(alwaysAllowed(log, place), ['npm test']);
    for (const other of [{ project: 'api' }, { repository: '/other' }, { sandboxed: false }])
      assert.deepEqual(alwaysAllowed(log, { ...place, ...other }), [], JSON.stringify(other));
    allowAlways(log, { ...place, sandboxed: false }, 'make');
    assert.deepEqual(alwaysAllowed(log, place), ['npm test', 'make']);
  });
});

describe('a request that waits too long', () => {
  it('gives its place to others, waits on, and goes on at once when it is answered', async (t) => {
    const { it, id } = await atWork(t, 'permission', 'max_sessions: 1');
    const { engine } = it.running.service;
    const request = await nthRequest(it, id, 1);
    const other = await it.running.call<Case>('POST', '/cases', { title: 'Next', type: 'chore' });
    const at = `/cases/${other.body.id}/sessions`;
    const body = { type: 'implementing', provider: 'manual' };
    const queued = await it.running.call<Session>('POST', at, body);
    assert.equal(queued.body.status, 'queued');
    // It was asked with ten minutes of patience: nothing moves before.
    assert.equal(engine.live.size, 1);
    assert.equal((await answer(it, id, request, { option_id: 'yes' })).status, 200);
    await it.until(id, 'completed');
  });

  it('lets the next one start while it waits', async (t) => {
    const options = withAgent(t, 'permission');
    const it = await withCase(t, 'x', {
      ...options,
      settings: `${options.settings}\nmax_sessions: 1`,
    });
    it.running.service.engine.patience_ms = 20;
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    const request = await nthRequest(it, id, 1);
    const other = await it.running.call<Case>('POST', '/cases', { title: 'Next', type: 'chore' });
    const at = `/cases/${other.body.id}/sessions`;
    const made = await it.running.call<Session>('POST', at, { type: 'x', provider: 'manual' });
    await eventually(async () => {
      const { body } = await it.running.call<Session>('GET', `${at}/${made.body.id}`);
      assert.equal(body.status, 'planning');
    });
    assert.equal((await it.until(id, 'working')).status, 'working');
    assert.equal(it.running.service.engine.live.size, 2);
    assert.equal((await answer(it, id, request, { option_id: 'yes' })).status, 200);
    await it.until(id, 'completed');
    const resolved = (await toldOf(it, id, 'permission_resolved')).slice(-1);
    assert.deepEqual(
      resolved.map(({ by, option_id }) => [by, option_id]),
      [['operator', 'yes']],
    );
  });
});

describe('an agent that does not ask by itself', () => {
  const ASK = { execute: 'ask', fetch: 'ask' } as const;

  it('is made to by its preset, for what the policy does not allow as a whole', () => {
    const { claude, opencode, codex, qwen } = PRESETS;
    assert.ok(claude && opencode && codex && qwen);
    assert.match(
      JSON.stringify(askSwitchesFor(claude, ASK)),
      /"ask":\["Bash","WebFetch","WebSearch"\]/,
    );
    assert.match(
      JSON.stringify(askSwitchesFor(claude, { execute: ['npm test'], fetch: 'allow' })),
      /"ask":\["Bash"\]/,
    );
    assert.deepEqual(askSwitchesFor(claude, { execute: 'allow', fetch: 'allow' }), {});
    assert.deepEqual(askSwitchesFor(qwen, ASK), {});
    assert.deepEqual(askSwitchesFor(codex, { execute: 'allow', fetch: 'ask' }), {});
  });

  it('keeps what the operator gave it, and asks for more, never for less', () => {
    const asking = askSwitchesFor(PRESETS.opencode!, ASK);
    const given = { bash: { 'rm *': 'deny', 'ls *': 'allow' }, webfetch: 'deny', edit: 'ask' };
    const env = { OPENCODE_PERMISSION: JSON.stringify(given) };
    const { OPENCODE_PERMISSION = '' } = environmentIn('work', { asking, env });
    assert.deepEqual(JSON.parse(OPENCODE_PERMISSION), {
      bash: { '*': 'ask', 'rm *': 'deny' },
      ...{ webfetch: 'deny', websearch: 'ask', codesearch: 'ask', edit: 'ask' },
    });
    const { OPENCODE_PERMISSION: alone = '' } = environmentIn('work', {
      asking,
      env: { OPENCODE_PERMISSION: 'no JSON' },
    });
    assert.deepEqual(JSON.parse(alone).bash, { '*': 'ask' });
  });
});
