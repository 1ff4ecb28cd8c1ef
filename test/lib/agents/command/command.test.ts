/** Any program as a provider: small programs that speak each known output, well and badly. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Phase, PromptParts, Run, RunSpec } from '../../../../lib/agents/provider.ts';
import { createProviders } from '../../../../lib/agents/providers.ts';
import type { ProviderSettings } from '../../../../store/records/settings.ts';
import { depsFor, makePlace, specFor, watch } from '../fixture.ts';

const node = (script: string, ...args: string[]): string[] => [
  process.execPath,
  '-e',
  script,
  ...args,
];

const print = (...lines: (string | object)[]): string[] =>
  node(
    lines
      .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
      .map((line) => `console.log(${JSON.stringify(line)});`)
      .join(''),
  );

interface Given {
  settings: Partial<ProviderSettings>;
  phase?: Phase;
  prompt?: Partial<PromptParts>;
  rest?: Partial<RunSpec>;
}

const runIt = (t: TestContext, { settings, phase = 'plan', prompt, rest }: Given) => {
  const place = makePlace(t);
  const entry: ProviderSettings = { kind: 'command', work: print('done'), ...settings };
  const providers = createProviders({ providers: { mine: entry } }, depsFor(place));
  const provider = providers.get('mine');
  assert.ok(provider);
  const spec = specFor(place, phase, prompt, rest);
  return { place, provider, ...watch(t, (tell) => provider.start(spec, tell)) };
};

const quoted = (text: string): string => text.replaceAll(/[[\]]/g, '\\$&');

const USED = { input_tokens: 3000, output_tokens: 150, cost_usd: null };

describe('a command as provider', () => {
  it('gets the prompt on standard input, and its output is the plan', async (t) => {
    const plan = node('process.stdin.on("data", (c) => process.stdout.write(c)).resume()');
    const { run, of } = runIt(t, { settings: { plan }, prompt: { title: 'Count on' } });
    const result = await run.done;
    assert.equal(result.outcome, 'completed', result.error);
    assert.match(result.plan ?? '', /^# Count on[\s\S]*Plan mode/);
    assert.match(
      of('message')
        .map(({ text }) => text)
        .join(''),
      /Count on/,
    );
  });

  it('gets it as an argument where {prompt} stands, and nothing on standard input', async (t) => {
    const script = [
      'let text = ""; process.stdin.on("data", (c) => (text += c));',
      'process.stdin.on("end", () => console.log(JSON.stringify([process.argv[1].slice(0, 10), text])));',
    ].join('');
    const { run } = runIt(t, {
      settings: { plan: node(script, '{prompt}') },
      prompt: { title: 'Count on' },
    });
    assert.equal((await run.done).plan, '["# Count on",""]');
  });

  it('gets model and effort by the flags of its preset, before its prompt', async (t) => {
    const place = makePlace(t);
    const names = ['claude', 'codex', 'gemini', 'opencode', 'qwen'];
    for (const name of names)
      writeFileSync(join(place.home, name), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
    const entry: ProviderSettings = { kind: 'command', output: 'text' };
    const deps = depsFor(place);
    const env = { ...deps.env, PATH: `${place.home}:${deps.env.PATH}` };
    const providers = Object.fromEntries(names.map((preset) => [preset, { ...entry, preset }]));
    const known = createProviders({ providers }, { ...deps, env });
    const said = async (name: string, effort?: string): Promise<string> => {
      const choice = { model: 'm[1]', ...(effort && { effort }) };
      const spec = specFor(place, 'work', { title: 'T' }, { choice });
      const { run, of } = watch(t, (tell) => known.get(name)?.start(spec, tell) as Run);
      const { error } = await run.done;
      return error ?? of('message')[0]?.text.split('\n')[0] ?? '';
    };

    const model = '--model m[1]';
    assert.match(
      await said('claude', 'high'),
      new RegExp(`acceptEdits ${quoted(model)} --effort high$`),
    );
    assert.equal(
      await said('codex', 'high'),
      `exec --json --skip-git-repo-check --sandbox workspace-write ${model} -c model_reasoning_effort=high -`,
    );
    assert.match(
      await said('opencode', 'high'),
      new RegExp(`build ${quoted(model)} --variant high # T`),
    );
    for (const name of ['gemini', 'qwen']) {
      assert.match(await said(name), new RegExp(`${quoted(model)}$`));
      assert.equal(
        await said(name, 'high'),
        `${name} offers no choice of effort. Leave effort out.`,
      );
    }
  });

  it('is refused a prompt that no argument can hold', async (t) => {
    const { run } = runIt(t, {
      settings: { plan: print('{prompt}').concat('{prompt}') },
      prompt: { description: 'x'.repeat(140_000) },
    });
    assert.match((await run.done).error ?? '', /128 KiB/);
  });

  it('works in the worktree, and its exit code decides', async (t) => {
    const work = node('require("fs").writeFileSync("b.txt", "made"); console.log("made it")');
    const { run, place } = runIt(t, {
      settings: { work },
      phase: 'work',
      prompt: { plan: 'Make b.' },
    });
    assert.equal((await run.done).outcome, 'completed');
    assert.equal(readFileSync(join(place.tree, 'b.txt'), 'utf8'), 'made');
    const silent = node('console.error("FATAL: nothing done")');
    const quiet = runIt(t, { settings: { work: silent }, phase: 'work' });
    assert.equal((await quiet.run.done).outcome, 'completed');
    assert.deepEqual(quiet.of('message'), [{ text: 'FATAL: nothing done' }]);
    const bad = node('console.error("no luck"); process.exitCode = 3');
    const failed = await runIt(t, { settings: { work: bad }, phase: 'work' }).run.done;
    assert.equal(failed.outcome, 'failed');
    assert.match(failed.error ?? '', /exit code 3[\s\S]*no luck/);
  });

  it('has failed when it ends without a plan, or says so itself', async (t) => {
    const silent = await runIt(t, { settings: { plan: node('') } }).run.done;
    assert.match(silent.error ?? '', /without writing a plan/);
    const claimed = runIt(t, {
      settings: {
        plan: print({ type: 'turn.failed', error: { message: 'no model' } }),
        output: 'codex-jsonl',
      },
    });
    assert.match((await claimed.run.done).error ?? '', /reported an error: no model/);
  });

  it('leaves the plan to the operator when it cannot plan', async (t) => {
    const { run } = runIt(t, {
      settings: {},
      rest: { awaitPlan: async () => 'The operator wrote this.' },
    });
    assert.deepEqual(await run.done, { outcome: 'completed', plan: 'The operator wrote this.' });
  });

  it('is ended with all it started, when it is cancelled', async (t) => {
    const { run, next } = runIt(t, {
      settings: { plan: node('console.log("on it"); setInterval(() => {}, 1000)') },
    });
    await next('message');
    await run.cancel();
    assert.equal((await run.done).outcome, 'cancelled');
  });
});

describe('the output of a known program', () => {
  for (const [text, reason] of [
    ['[API Error: 500 scripted error]', 'model_unavailable'],
    ['[API Error: 429 scripted error]', 'usage_limit'],
    ['I will now[API Error: terminated (cause: other side closed)]', 'model_unavailable'],
  ] as const)
    it(`fails where the model of Qwen Code failed and it says success: ${text}`, async (t) => {
      const message = { role: 'assistant', content: [{ type: 'text', text }], stop_reason: null };
      const end = { subtype: 'success', is_error: false, num_turns: 1, result: text };
      const lines = [
        { type: 'assistant', message },
        { type: 'result', ...end, permission_denials: [] },
      ];
      for (const phase of ['plan', 'work'] as const) {
        const { run } = runIt(t, {
          phase,
          settings: { output: 'claude-stream-json', [phase]: print(...lines) },
        });
        const { outcome, error, outage } = await run.done;
        assert.deepEqual([outcome, outage?.reason], ['failed', reason]);
        assert.match(error ?? '', /reported an error: \[API Error: /);
      }
    });

  it('claude-stream-json: text, tool calls, tokens and cost', async (t) => {
    const say = (part: object) => ({ type: 'assistant', message: { content: [part] } });
    const { run, of } = runIt(t, {
      settings: {
        output: 'claude-stream-json',
        plan: print(
          { type: 'system', subtype: 'init', session_id: 's' },
          say({ type: 'text', text: 'I look.' }),
          say({ type: 'thinking', thinking: 'Hm.' }),
          say({ type: 'tool_use', id: 'c', name: 'Read', input: { file_path: '/w/a.txt' } }),
          {
            type: 'user',
            message: { content: [{ type: 'tool_result', tool_use_id: 'c', content: 'one' }] },
          },
          say({ type: 'text', text: '# The plan' }),
          {
            type: 'result',
            is_error: false,
            total_cost_usd: 0.25,
            usage: { input_tokens: 3000, output_tokens: 150 },
          },
        ),
      },
    });
    const { plan, usage } = await run.done;
    assert.deepEqual([plan, usage], ['# The plan', { ...USED, cost_usd: 0.25 }]);
    assert.deepEqual(
      of('tool_call').map(({ title, kind, status, output }) => [title, kind, status, output]),
      [
        ['Read /w/a.txt', 'read', 'in_progress', undefined],
        ['Read /w/a.txt', 'read', 'completed', 'one'],
      ],
    );
    assert.deepEqual(of('thought'), [{ text: 'Hm.' }]);
    assert.deepEqual(
      of('agent_event').map(({ kind }) => kind),
      ['system'],
    );
  });

  it('codex-jsonl: commands with their output, file changes, a to-do list', async (t) => {
    const done = (item: object) => ({ type: 'item.completed', item });
    const command = { id: 'i', type: 'command_execution', command: 'cat a.txt' };
    const { run, of } = runIt(t, {
      settings: {
        output: 'codex-jsonl',
        plan: print(
          { type: 'thread.started', thread_id: 't' },
          done({ id: 'm', type: 'agent_message', text: 'I look.' }),
          { type: 'item.started', item: { ...command, status: 'in_progress' } },
          done({ ...command, aggregated_output: 'one\n', exit_code: 0, status: 'completed' }),
          done({ id: 'f', type: 'file_change', changes: [{ path: 'b.txt' }], status: 'failed' }),
          done({ id: 'l', type: 'todo_list', items: [{ text: 'Look', completed: true }] }),
          done({ id: 'n', type: 'agent_message', text: '# The plan' }),
          { type: 'turn.completed', usage: { input_tokens: 3000, output_tokens: 150 } },
        ),
      },
    });
    const { plan, usage } = await run.done;
    assert.deepEqual([plan, usage], ['# The plan', USED]);
    assert.deepEqual(
      of('tool_call').map(({ title, kind, status }) => [title, kind, status]),
      [
        ['cat a.txt', 'execute', 'in_progress'],
        ['cat a.txt', 'execute', 'completed'],
        ['Change b.txt', 'edit', 'failed'],
      ],
    );
    assert.deepEqual(of('plan'), [{ entries: [{ content: 'Look', status: 'completed' }] }]);
  });

  it('gemini-stream-json: pieces of text, tools, and the end with its figures', async (t) => {
    const { run, of } = runIt(t, {
      settings: {
        output: 'gemini-stream-json',
        plan: print(
          'Warning: a dumb terminal.',
          { type: 'message', role: 'user', content: 'the prompt' },
          {
            type: 'tool_use',
            tool_name: 'run_shell_command',
            tool_id: 'x',
            parameters: { command: 'ls' },
          },
          { type: 'tool_result', tool_id: 'x', status: 'error', output: 'no' },
          { type: 'message', role: 'assistant', content: '# The ', delta: true },
          { type: 'message', role: 'assistant', content: 'plan', delta: true },
          { type: 'result', status: 'success', stats: { input_tokens: 3000, output_tokens: 150 } },
        ),
      },
    });
    const { plan, usage } = await run.done;
    assert.deepEqual([plan, usage], ['# The plan', USED]);
    assert.deepEqual(
      of('tool_call').map(({ title, status }) => [title, status]),
      [
        ['ls', 'in_progress'],
        ['ls', 'failed'],
      ],
    );
    assert.deepEqual(of('agent_event'), [{ kind: 'output', raw: 'Warning: a dumb terminal.' }]);
  });

  it('opencode-json: each step with its tokens and cost, added up', async (t) => {
    const step = {
      type: 'step_finish',
      part: { tokens: { input: 1500, output: 75 }, cost: 0.5 },
    };
    const state = { status: 'completed', input: { command: 'ls' }, output: 'a.txt' };
    const { run, of } = runIt(t, {
      settings: {
        output: 'opencode-json',
        plan: print(
          { type: 'step_start', part: {} },
          { type: 'tool_use', part: { tool: 'bash', callID: 'c', state } },
          step,
          { type: 'text', part: { text: '# The plan' } },
          step,
        ),
      },
    });
    const { plan, usage } = await run.done;
    assert.deepEqual([plan, usage], ['# The plan', { ...USED, cost_usd: 1 }]);
    assert.deepEqual(
      of('tool_call').map(({ title, output }) => [title, output]),
      [['ls', 'a.txt']],
    );
  });

  it('that means nothing is told as it is, and drops nothing', async (t) => {
    const lines = ['[]', '{"type":"toString"}', 'null', '{"no":"type"}', '{"type":"result"'];
    const { run, of } = runIt(t, {
      settings: { output: 'claude-stream-json', plan: print(...lines) },
    });
    assert.equal((await run.done).outcome, 'failed');
    assert.equal(of('agent_event').length, lines.length);
  });
});

describe('the settings of a command', () => {
  const probe = async (t: TestContext, entry: object) => {
    const place = makePlace(t);
    writeFileSync(join(place.home, 'x'), '');
    const providers = createProviders(
      { providers: { mine: { kind: 'command', ...entry } } },
      depsFor(place),
    );
    return providers.get('mine')?.probe();
  };

  it('say what is missing, and where to set it', async (t) => {
    for (const [entry, reason] of [
      [{}, /providers\.mine: there is no program for Work mode/],
      [{ preset: 'nobody' }, /there is no preset nobody\. Use one of claude, codex/],
      [{ work: ['no-such-program'] }, /no-such-program is not installed/],
      [{ work: ['./here'] }, /absolute path/],
      [{ preset: 'opencode' }, /opencode is not installed\. Install the npm package/],
    ] as const) {
      const info = await probe(t, entry);
      assert.equal(info?.available, false);
      assert.match(info?.reason ?? '', reason);
    }
    assert.deepEqual(await probe(t, { work: ['/bin/true'] }), {
      id: 'mine',
      kind: 'command',
      available: true,
      isolation: 'checked',
      login: 'unknown',
    });
  });
});
