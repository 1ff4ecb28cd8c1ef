/** A real agent, Qwen Code, does plan → approve → work against a scripted model, through the provider. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Phase, PromptParts, RunSpec } from '../../lib/agents/provider.ts';
import { createProviders } from '../../lib/agents/providers.ts';
import type { SandboxSetting } from '../../lib/sandbox/sandbox.ts';
import { alive } from '../helpers/processes.ts';
import { QWEN } from '../helpers/qwen.ts';
import { type Rule, startScriptedModel } from '../helpers/scripted-model.ts';
import { depsFor, makePlace, specFor, watch } from '../lib/agents/fixture.ts';

const git = (tree: string, ...args: string[]): string =>
  execFileSync(
    'git',
    ['-C', tree, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args],
    {
      encoding: 'utf8',
    },
  );

const setUp = async (
  t: TestContext,
  rulesFor: (tree: string) => Rule[],
  setting: SandboxSetting,
) => {
  const place = makePlace(t);
  const { tree, home } = place;
  mkdirSync(join(home, '.qwen'));
  git(tree, 'init', '-q');
  git(tree, 'add', '.');
  git(tree, 'commit', '-qm', 'one');
  const model = await startScriptedModel(t, rulesFor(tree));
  const deps = depsFor(place, setting);
  const { PATH } = deps.env;
  const env = {
    ...deps.env,
    PATH: `${dirname(process.execPath)}:${PATH}`,
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: model.url,
    OPENAI_MODEL: 'scripted',
  };
  const settings = {
    providers: {
      qwen: { kind: 'acp' as const, command: process.execPath, args: [QWEN, '--acp'] },
    },
  };
  const provider = createProviders(settings, { ...deps, env }).get('qwen');
  assert.ok(provider);
  const start = (phase: Phase, prompt: Partial<PromptParts>, rest: Partial<RunSpec> = {}) => {
    const spec = specFor(place, phase, { title: 'Count on', ...prompt }, rest);
    return { spec, ...watch(t, (tell) => provider.start(spec, tell)) };
  };
  return { ...place, model, provider, start, sandbox: deps.sandbox };
};

const PLAN = '# Plan\n\n1. Change `one` to `two` in a.txt.';
const APPROVED = `${PLAN}\n2. Leave b.txt alone. (edited by the operator)\n`;

const planAndWork = (tree: string): Rule[] => [
  {
    when: 'You are in Plan mode',
    steps: [[{ tool: 'read_file', args: { file_path: join(tree, 'a.txt') } }], [{ text: PLAN }]],
  },
  {
    when: 'edited by the operator',
    steps: [
      [{ tool: 'read_file', args: { file_path: join(tree, 'a.txt') } }],
      [
        {
          tool: 'edit',
          args: { file_path: join(tree, 'a.txt'), old_string: 'one', new_string: 'two' },
        },
      ],
      [{ text: 'Changed a.txt.' }],
    ],
  },
];

const DIFF = ['-one', '+two'];

const changedLines = (tree: string): string[] =>
  git(tree, 'diff', '-U0')
    .split('\n')
    .filter((line) => /^[-+][^-+]/.test(line));

for (const setting of ['off', 'auto'] as const) {
  const place = setting === 'off' ? 'without a sandbox' : 'in the sandbox';

  describe(`qwen ${place}`, () => {
    it('changes nothing in Plan mode, whatever the model tries', async (t) => {
      const { tree, model, start, sandbox } = await setUp(
        t,
        (tree) => [
          {
            when: 'You are in Plan mode',
            steps: [
              [{ tool: 'write_file', args: { file_path: join(tree, 'b.txt'), content: 'b' } }],
              [
                {
                  tool: 'run_shell_command',
                  args: { command: `echo x > ${tree}/c.txt`, is_background: false },
                },
              ],
              [
                {
                  tool: 'edit',
                  args: { file_path: join(tree, 'a.txt'), old_string: 'one', new_string: 'x' },
                },
              ],
              [{ text: PLAN }],
            ],
          },
        ],
        setting,
      );
      if (setting === 'auto' && sandbox.kind === 'none') return t.skip(sandbox.reason);

      const { outcome, plan, error } = await start('plan', {}).run.done;

      assert.equal(outcome, 'completed', error);
      assert.equal(plan, PLAN);
      assert.equal(git(tree, 'status', '--porcelain'), '');
      assert.equal(model.requests.at(-1)?.results.length, 3);
    });

    // Each of both phases is tried out without a sandbox as well.
    if (setting === 'off') return;

    it('plans, changing nothing, then carries out the plan as approved', async (t) => {
      const { tree, home, model, start, sandbox } = await setUp(t, planAndWork, setting);
      if (setting === 'auto' && sandbox.kind === 'none') return t.skip(sandbox.reason);

      const planned = await start('plan', { description: 'Two, not one.' }).run.done;

      assert.equal(planned.outcome, 'completed', planned.error);
      assert.equal(planned.plan, PLAN);
      assert.equal(git(tree, 'status', '--porcelain'), '');
      assert.ok(planned.native_session_id);
      assert.deepEqual(planned.usage, { input_tokens: 200, output_tokens: 20, cost_usd: null });

      const { native_session_id } = planned;
      const chats = join(home, '.qwen/projects', tree.replace(/[^a-zA-Z0-9]/g, '-'), 'chats');
      const chat = (): string => readFileSync(join(chats, `${native_session_id}.jsonl`), 'utf8');
      const before = chat();
      const work = start('work', { plan: APPROVED }, { native_session_id });
      const worked = await work.run.done;

      assert.equal(worked.outcome, 'completed', worked.error);
      assert.equal(git(tree, 'status', '--porcelain'), ' M a.txt\n');
      assert.deepEqual(changedLines(tree), DIFF);
      assert.ok(model.requests.some(({ prompt }) => prompt.includes(APPROVED)));
      assert.ok(
        work.of('tool_call').some(({ kind, status }) => kind === 'edit' && status === 'completed'),
      );
      assert.equal(await alive(work.spec.run_marker), false);
      // It is at home, with what the second turn said, and nothing stayed behind.
      assert.ok(chat().startsWith(before) && chat().length > before.length);
      assert.deepEqual(
        work.of('agent_event').filter(({ kind }) => kind === 'state_not_returned'),
        [],
      );
    });
  });
}

describe('qwen', () => {
  it('is available, with its version', async (t) => {
    const { provider } = await setUp(t, () => [], 'off');

    const info = await provider.probe();

    assert.equal(info.available, true, info.reason);
    assert.equal(info.version, '0.15.10');
  });

  it('asks the operator about a command in Work mode, and runs it once it is allowed', async (t) => {
    const { tree, start } = await setUp(
      t,
      (tree) => [
        {
          when: 'operator has approved',
          steps: [
            [
              {
                tool: 'run_shell_command',
                args: { command: `touch ${tree}/made`, is_background: false },
              },
            ],
            [{ text: 'Done.' }],
          ],
        },
      ],
      'off',
    );
    const { run, next } = start('work', { plan: 'Run touch.' });
    const request = await next('permission_request');

    assert.equal(request.kind, 'execute');
    assert.equal(existsSync(join(tree, 'made')), false);
    const allow = request.options.find(({ kind }) => kind === 'allow_once');
    assert.equal(run.answer(request.request_id, allow?.option_id ?? ''), true);
    const { outcome, error } = await run.done;

    assert.equal(outcome, 'completed', error);
    assert.equal(existsSync(join(tree, 'made')), true);
  });

  it('is cancelled in the middle of a turn', async (t) => {
    const { start } = await setUp(
      t,
      (tree) => [
        {
          when: 'operator has approved',
          steps: [
            [{ tool: 'read_file', args: { file_path: join(tree, 'a.txt') } }],
            [{ text: 'Wait' }, { hang: true }],
          ],
        },
      ],
      'off',
    );
    const { run, next, spec } = start('work', { plan: 'Take your time.' });
    await next('tool_call');

    await run.cancel();

    assert.equal((await run.done).outcome, 'cancelled');
    assert.equal(await alive(spec.run_marker), false);
  });

  it('fails with the words of a model that answers with an error', async (t) => {
    const { start } = await setUp(
      t,
      () => [{ when: 'Plan mode', steps: [[{ status: 400 }]] }],
      'off',
    );

    const { outcome, error } = await start('plan', {}).run.done;

    assert.equal(outcome, 'failed');
    assert.match(error ?? '', /scripted error/);
  });
});
