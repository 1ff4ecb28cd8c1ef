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

const withAgent = async (t: TestContext, sandbox: 'auto' | 'off') => {
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
    ...rulesFor(join(running.workspace, '.dossier/worktrees', basename(item.path), 'math.ts')),
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
