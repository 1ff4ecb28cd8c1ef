/** The main job with a real agent: Qwen Code plans and works in a session of the whole service. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { PATIENCE_MS, withQwen } from '../helpers/qwen.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { type Rule, startScriptedModel } from '../helpers/scripted-model.ts';
import { newestSession, startForTest } from '../helpers/service.ts';

const PLAN = '# Plan\n\nAdd instead of subtracting in math.ts.';
const EDITED = `${PLAN}\n\nAnd nothing else (the operator adds).\n`;

const rulesFor = (file: string): Rule[] => [
  {
    when: 'You are in Plan mode',
    steps: [
      [
        {
          tool: 'run_shell_command',
          args: { command: 'echo sneaky > sneaky.txt', is_background: false },
        },
      ],
      [{ text: PLAN }],
    ],
  },
  {
    when: 'the operator adds',
    steps: [
      [{ tool: 'read_file', args: { file_path: file } }],
      [{ tool: 'edit', args: { file_path: file, old_string: 'a - b', new_string: 'a + b' } }],
      [{ text: 'It adds now.' }],
    ],
  },
];

// It reads, and then waits for its model for ever, until it is told something else.
const listeningRules = (file: string): Rule[] => [
  { when: 'said meanwhile', steps: [rulesFor(file)[1]?.steps[1] ?? [], [{ text: 'Done.' }]] },
  {
    when: 'the operator adds',
    steps: [[{ tool: 'read_file', args: { file_path: file } }], [{ hang: true }]],
  },
  { when: 'held', steps: [[{ tool: 'read_file', args: { file_path: file } }], [{ hang: true }]] },
  { when: 'You are in Plan mode', steps: [[{ text: PLAN }]] },
];

const withAgent = async (
  t: TestContext,
  sandbox: 'auto' | 'off',
  scripted: (file: string) => Rule[] = rulesFor,
) => {
  const home = temporaryDirectory(t);
  const rules: Rule[] = [];
  const model = await startScriptedModel(t, rules);
  const running = await startForTest(t, {
    ...withQwen(home, model, sandbox),
    files: { 'math.ts': 'export const add = (a: number, b: number) => a - b;\n' },
  });
  const { body: item } = await running.call<Case>('POST', '/cases', {
    title: 'It subtracts',
    type: 'bug',
    description: 'add() subtracts.',
  });
  rules.push(
    ...scripted(join(running.workspace, '.dossier/worktrees', basename(item.path), 'math.ts')),
  );
  const sessions = `/cases/${item.id}/sessions`;
  const { body: session } = await running.call<Session>('POST', sessions, { type: 'implementing' });
  const at = `${sessions}/${session.id}`;
  const until = (status: string): Promise<Session> =>
    eventually(async () => {
      const { body } = await running.call<Session>('GET', at);
      assert.equal(body.status, status, body.error ?? undefined);
      return body;
    }, PATIENCE_MS);
  return { running, model, item, at, until };
};

for (const sandbox of ['off', 'auto'] as const) {
  describe(`a session with a real agent (sandbox ${sandbox})`, () => {
    it('plans, is approved as edited by hand, and does exactly that', async (t) => {
      const { running, model, item, at, until } = await withAgent(t, sandbox);
      const { call } = running;
      const ready = await until('plan_ready');
      assert.equal((await call('GET', `${at}/plan`)).text, PLAN);
      assert.deepEqual(ready.usage, { input_tokens: 200, output_tokens: 20, cost_usd: null });
      writeFileSync(join(newestSession(running, item), 'plan.md'), EDITED);
      assert.equal((await call('POST', `${at}/approve`)).status, 200);
      await until('completed');
      const { text } = await call('GET', `${at}/diff`);
      const lines = text.split('\n').filter((line) => /^[-+](?![-+])/.test(line));
      assert.deepEqual(lines, [
        '-export const add = (a: number, b: number) => a - b;',
        '+export const add = (a: number, b: number) => a + b;',
      ]);
      assert.doesNotMatch(text, /sneaky/);
      assert.ok(
        model.requests.some(({ prompt }) =>
          prompt.includes('And nothing else (the operator adds).'),
        ),
      );
      assert.equal((await call<Case>('GET', `/cases/${item.id}`)).body.state, 'VERIFYING');
    });
  });
}

describe('a message to a session with a real agent', () => {
  it('is read in the middle of its turn, and once over a restart', async (t) => {
    const { running, model, item, at, until } = await withAgent(t, 'auto', listeningRules);
    const { call } = running;
    await until('plan_ready');
    const edited = { 'if-match': '*' };
    assert.equal((await call('PUT', `${at}/plan`, EDITED, edited)).status, 200);
    assert.equal((await call('POST', `${at}/approve`)).status, 200);
    const untilHanging = (prompt: string) =>
      eventually(() => {
        const last = model.requests.at(-1);
        assert.ok(last?.prompt.includes(prompt) && last.results.length === 1);
      }, PATIENCE_MS);
    const say = async (text: string) =>
      assert.equal((await call('POST', `${at}/messages`, { text })).status, 201);
    await untilHanging('the operator adds');
    await say('Wait a moment (held).');
    await untilHanging('(held)');
    await running.restart();
    assert.equal((await until('paused')).mode, 'work');
    assert.equal((await call('POST', `/api/cases/${item.id}/session/resume`)).status, 200);
    await untilHanging('the operator adds');
    await say('Now change it (said meanwhile).');
    await until('completed');
    const { text } = await call('GET', `${at}/diff`);
    assert.match(text, /^\+.*a \+ b;$/m);
    const { earlier, prompt } = model.requests.at(-1) ?? { earlier: [], prompt: '' };
    const heard = [...earlier, prompt].join('\n');
    for (const said of ['(held)', '(said meanwhile)'])
      assert.equal(heard.split(said).length - 1, 1, heard);
    const { body } = await call<{ delivered_at: string | null }[]>('GET', `${at}/messages`);
    assert.deepEqual(
      body.map(({ delivered_at }) => delivered_at !== null),
      [true, true],
    );
  });
});
