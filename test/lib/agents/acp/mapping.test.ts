import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  commandOf,
  lineOf,
  otherArgumentsOf,
  plainCommandOf,
} from '../../../../lib/agents/acp/call-command.ts';
import { modeChange } from '../../../../lib/agents/acp/session.ts';
import { mergeToolCall } from '../../../../lib/agents/acp/tool-call.ts';
import { createTranscript, stateIn } from '../../../../lib/agents/acp/transcript.ts';
import { type AgentTurnEnd, judgeTurn } from '../../../../lib/agents/acp/turn-verdict.ts';
import { createUsageMeter } from '../../../../lib/agents/acp/usage.ts';
import { coalesce } from '../../../../lib/agents/coalesce.ts';
import type { RunEvent } from '../../../../lib/agents/provider.ts';

describe('modeChange', () => {
  const modes = { currentModeId: 'a', availableModes: [{ id: 'plan' }, { id: 'default' }] };
  const option = { id: 'm', category: 'mode', type: 'select', options: [{ value: 'plan' }] };
  const grouped = { ...option, options: [{ group: 'g', options: [{ value: 'build' }] }] };
  const model = { id: 'x', category: 'model', options: [{ value: 'plan' }] };
  const byOption = (value: string) => ({
    method: 'session/set_config_option',
    params: { configId: 'm', value },
  });
  const byMode = (modeId: string) => ({ method: 'session/set_mode', params: { modeId } });

  const CASES: [claim: string, opened: unknown, wanted: string[], expected: unknown][] = [
    ['uses modes where there is no option', { modes }, ['plan'], byMode('plan')],
    [
      'prefers the config option',
      { modes, configOptions: [model, option] },
      ['plan'],
      byOption('plan'),
    ],
    ['finds a value in a group', { configOptions: [grouped] }, ['build'], byOption('build')],
    [
      'takes the first wanted that is listed',
      { modes },
      ['acceptEdits', 'default'],
      byMode('default'),
    ],
    ['never sends what is not listed', { modes }, ['yolo'], undefined],
    ['never mistakes another option for the mode', { configOptions: [model] }, ['plan'], undefined],
    ['wants nothing, sends nothing', { modes }, [], undefined],
    ['survives nonsense', { modes: 7, configOptions: ['x', null] }, ['plan'], undefined],
    ['survives nothing', null, ['plan'], undefined],
  ];

  for (const [claim, opened, wanted, expected] of CASES) {
    it(claim, () => assert.deepEqual(modeChange(opened, wanted), expected));
  }
});

describe('judgeTurn', () => {
  const END: AgentTurnEnd = {
    phase: 'plan',
    stop_reason: 'end_turn',
    acted: true,
    worked: true,
    failure: undefined,
    gave_up: undefined,
    answered: true,
    message: 'The plan.',
    too_long: false,
    captured: undefined,
    refused: undefined,
    stopped: false,
  };

  const CASES: [
    claim: string,
    end: Partial<AgentTurnEnd>,
    outcome: string,
    rest: RegExp | undefined,
  ][] = [
    ['completes with the last message', {}, 'completed', undefined],
    ['fails without a message', { message: '' }, 'failed', /without writing a plan/],
    [
      'fails without anything',
      { acted: false, message: '' },
      'failed',
      /without any text or action/,
    ],
    [
      'fails on words alone, and repeats them',
      { worked: false, message: 'status 404' },
      'failed',
      /no plan: it called no tool and reported no use of its model[\s\S]*:\nstatus 404$/,
    ],
    ['completes with a captured plan', { worked: false, captured: 'p' }, 'completed', undefined],
    ['leaves idle work to its diff', { phase: 'work', worked: false }, 'completed', undefined],
    ['completes work without a message', { phase: 'work', message: '' }, 'completed', undefined],
    [
      'fails work that ends on a tool call',
      { phase: 'work', answered: false },
      'failed',
      /after a tool call without a message/,
    ],
    [
      'fails on what its adapter calls a failure, and takes its words for no plan',
      { failure: 'exceeded retry limit' },
      'failed',
      /turn failed: exceeded retry limit/,
    ],
    [
      'fails work whose model did not come back',
      { phase: 'work', gave_up: 'Reconnecting... 5/5' },
      'failed',
      /did not recover: Reconnecting/,
    ],
    ...(['plan', 'work'] as const).map((phase): (typeof CASES)[number] => [
      `takes the error of its model for no end of a turn (${phase})`,
      { phase, message: '[API Error: 500 scripted error]' },
      'failed',
      /did not recover: \[API Error: 500 scripted error\]/,
    ]),
    [
      'fails work without anything',
      { phase: 'work', acted: false },
      'failed',
      /without any text or action/,
    ],
    ['is cancelled when we stopped it', { stopped: true }, 'cancelled', undefined],
    ['is cancelled over a captured plan', { stopped: true, captured: 'p' }, 'cancelled', undefined],
    [
      'fails when the agent cancelled',
      { stop_reason: 'cancelled' },
      'failed',
      /cancelled its own turn/,
    ],
    [
      'fails with what it was refused',
      { stop_reason: 'cancelled', refused: 'Edit a.txt' },
      'failed',
      /gave up after a request was refused: Edit a\.txt\. In Plan mode it may only read/,
    ],
    ['fails on a refusal', { stop_reason: 'refusal' }, 'failed', /refused/],
    ['fails at the token limit', { stop_reason: 'max_tokens' }, 'failed', /token limit/],
    ['fails at the call limit', { stop_reason: 'max_turn_requests' }, 'failed', /model calls/],
    [
      'fails on what it does not know',
      { stop_reason: 'bored' },
      'failed',
      /unknown reason \(bored\)/,
    ],
    [
      'fails on a plan that is too long',
      { too_long: true },
      'failed',
      /longer than 1 Mi characters/,
    ],
    [
      'fails on a captured plan that is too long',
      { captured: 'x'.repeat(1_048_577) },
      'failed',
      /shorter plan/,
    ],
    ['works, however much it says', { phase: 'work', too_long: true }, 'completed', undefined],
    ['fails on no reason', { stop_reason: undefined }, 'failed', /unknown reason/],
  ];

  for (const [claim, end, outcome, error] of CASES) {
    it(claim, () => {
      const verdict = judgeTurn({ ...END, ...end });

      assert.equal(verdict.outcome, outcome);
      if (error === undefined) assert.equal(verdict.error, undefined);
      else assert.match(verdict.error ?? '', error);
    });
  }

  it('prefers a captured plan, whatever the agent calls the end', () => {
    const end = { ...END, captured: 'Captured.', stop_reason: 'cancelled' };

    assert.deepEqual(judgeTurn(end), { outcome: 'completed', plan: 'Captured.' });
  });
});

describe('createUsageMeter', () => {
  it('takes no figure that cannot be one', () => {
    for (const figure of [-1e308, -1, 0.5, 1e300, '7', null]) {
      const meter = createUsageMeter(true);
      meter.begin(0);
      const cost = { amount: figure === 0.5 ? -figure : figure, currency: 'USD' };
      meter.hear({ sessionUpdate: 'usage_update', cost });
      meter.hearAnswer({ usage: { inputTokens: figure, outputTokens: 4 } });
      const { input_tokens, ...rest } = meter.read();
      assert.deepEqual(rest, { output_tokens: 4, cost_usd: null }, String(figure));
      assert.ok(input_tokens === null, String(figure));
    }
  });

  const chunk = (inputTokens: number, outputTokens: number) => ({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: '' },
    _meta: { usage: { inputTokens, outputTokens } },
  });
  const cost = (amount: number, currency = 'USD') => ({
    sessionUpdate: 'usage_update',
    used: 1,
    size: 2,
    cost: { amount, currency },
  });

  it('knows nothing where nothing is told', () => {
    const meter = createUsageMeter(true);
    meter.begin(0);
    meter.hearAnswer({ stopReason: 'end_turn', usage: null });

    assert.deepEqual(meter.read(), { input_tokens: null, output_tokens: null, cost_usd: null });
  });

  it('knows whether the model was used, also where no figures of it are kept', () => {
    const used = (update: unknown, answer: unknown = {}): boolean => {
      const meter = createUsageMeter(false);
      meter.hear({ sessionUpdate: 'usage_update', used: 9, size: 10 });
      meter.begin(0);
      meter.hear(update);
      meter.hearAnswer(answer);
      return meter.used();
    };

    assert.equal(used({ sessionUpdate: 'usage_update', used: 3, size: 10 }), true);
    assert.equal(used(chunk(0, 2)), true);
    assert.equal(used({}, { usage: { inputTokens: 9, outputTokens: 2 } }), true);
    assert.equal(used({}, { usage: { totalTokens: 1 } }), true);
    assert.equal(used({}, { _meta: { quota: { token_count: { input_tokens: 7 } } } }), true);
    assert.equal(used(cost(0), { usage: null }), true);
    assert.equal(used({ ...cost(0), used: 0 }, { usage: { inputTokens: 0 } }), false);
  });

  it('takes the sum of the turn from the answer', () => {
    const meter = createUsageMeter(true);
    meter.hearAnswer({ usage: { inputTokens: 9, outputTokens: 2 } });

    assert.deepEqual(meter.read(), { input_tokens: 9, output_tokens: 2, cost_usd: null });
  });

  it('does not take the last call of a turn for its sum', () => {
    const meter = createUsageMeter(false);
    meter.hearAnswer({ usage: { inputTokens: 9, outputTokens: 2 } });

    assert.equal(meter.read().input_tokens, null);
  });

  it("reads Gemini's count", () => {
    const meter = createUsageMeter(true);
    meter.hearAnswer({ _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 1 } } } });

    assert.deepEqual(meter.read(), { input_tokens: 7, output_tokens: 1, cost_usd: null });
  });

  it('adds up what is told call by call, of this turn only', () => {
    const meter = createUsageMeter(true);
    meter.hear(chunk(100, 100));
    meter.begin(0);

    assert.equal(meter.hear(chunk(5, 1)), true);
    assert.equal(meter.hear(chunk(6, 2)), true);
    assert.deepEqual(meter.read(), { input_tokens: 11, output_tokens: 3, cost_usd: null });
  });

  it('takes the cost of earlier turns off a cumulative cost', () => {
    const meter = createUsageMeter(true);
    meter.hear(cost(2));
    meter.begin(0);

    assert.equal(meter.hear(cost(2.5)), true);
    assert.equal(meter.read().cost_usd, 0.5);
  });

  it('takes a cost that began anew as it is, and no other currency for dollars', () => {
    const meter = createUsageMeter(true);
    meter.hear(cost(2));
    meter.begin(0);
    meter.hear(cost(0.25));

    assert.equal(meter.hear(cost(9, 'EUR')), false);
    assert.equal(meter.read().cost_usd, 0.25);
    assert.equal(meter.hear(cost(2.5)), true);
    assert.equal(meter.read().cost_usd, 2.5);
  });

  it('goes on counting where another process of the agent stopped', () => {
    const meter = createUsageMeter(true);
    meter.begin(0.1);
    assert.deepEqual([meter.read().cost_usd, meter.costSoFar()], [null, 0.1]);
    meter.hear(cost(0.3));
    assert.deepEqual([meter.read().cost_usd, meter.costSoFar()], [0.2, 0.3]);
  });

  it('sends nothing of the context window, which is no use of tokens', () => {
    const meter = createUsageMeter(true);
    meter.begin(0);
    assert.equal(meter.hear({ sessionUpdate: 'usage_update', used: 900, size: 1000 }), false);
    assert.deepEqual(meter.read(), { input_tokens: null, output_tokens: null, cost_usd: null });
  });
});

describe('commandOf', () => {
  const command = (rawInput: unknown) =>
    commandOf(mergeToolCall(undefined, { toolCallId: '1', rawInput }));

  it('reads a string, an argument vector and a wrapped one', () => {
    assert.equal(command({ command: 'npm test' }), 'npm test');
    assert.equal(command({ cmd: 'npm test' }), 'npm test');
    assert.equal(command({ command: ['npm', 'test'] }), 'npm test');
    assert.equal(command({ command: ['bash', '-lc', 'npm test'] }), 'npm test');
  });

  it('leaves nothing of it out', () => {
    assert.equal(command({ command: 'npm', args: ['publish', '--force'] }), 'npm publish --force');
    assert.equal(command({ command: ['/tmp/bash', '-c', 'ls'] }), '/tmp/bash -c ls');
    assert.equal(command({ command: ['npm', 'test; rm x'] }), 'npm test; rm x');
    assert.equal(command({ command: ['bash', '-c', 'ls', 'rm'] }), 'bash -c ls rm');
    assert.equal(command({ command: ['npm', 'test'], args: ['x'] }), 'npm test x');
    assert.equal(command({ command: 'npm', args: 'publish' }), undefined);
  });

  it('reads nothing from anything else', () => {
    for (const raw of [undefined, {}, { command: 7 }, { command: [] }, { command: ['a', 1] }]) {
      assert.equal(command(raw), undefined);
    }
  });
});

describe('lineOf', () => {
  const line = (rawInput: unknown) =>
    lineOf(mergeToolCall(undefined, { toolCallId: '1', rawInput }), '/tree');

  it('is what a shell reads in the worktree', () => {
    for (const raw of [
      { command: 'npm test' },
      { cmd: 'npm test' },
      { command: ['bash', '-lc', 'npm test'] },
      { command: 'npm test', description: 'Tests', timeout: 5, is_background: false },
      { command: 'npm test', cwd: '/tree', args: [], env: {}, stdin: null },
      { command: 'npm test', workdir: '.', directory: '' },
    ])
      assert.equal(line(raw), 'npm test', JSON.stringify(raw));
    assert.equal(line({ command: ' npm test\n' }), ' npm test\n');
  });

  it('is undefined where anything else decides what runs', () => {
    for (const raw of [
      { command: ['npm', 'test'] },
      { command: ['bash', '-c', 'npm test', 'x'] },
      { command: 'npm', args: ['test'] },
      { command: 'npm test', cmd: 'npm test' },
      { command: 'npm test', cwd: '/tree/sub' },
      { command: 'npm test', workdir: 'sub' },
      { command: 'npm test', dir_path: '..' },
      { command: 'npm test', directory: ['/tree'] },
      { command: 'npm test', env: { PATH: '/tmp' } },
      { command: 'npm test', environment_variables: ['A=1'] },
      { command: 'npm test', stdin: 'y' },
      { command: 'npm test', input: 'y' },
      { command: 'npm test', user: 'root' },
      { command: 'npm test', shell: '/tmp/sh' },
      { command: 'npm test', dangerouslyDisableSandbox: true },
      { command: 'npm test', with_escalated_permissions: true },
      { command: 'npm test', something_new: 1 },
      {},
    ])
      assert.equal(line(raw), undefined, JSON.stringify(raw));
  });
});

describe('plainCommandOf', () => {
  const plain = (rawInput: unknown) =>
    plainCommandOf(mergeToolCall(undefined, { toolCallId: '1', rawInput }), '/tree');

  it('is what the known agents send', () => {
    for (const raw of [
      { command: 'npm test', description: 'Tests', timeout: 600_000, run_in_background: true },
      { command: 'npm test', dangerouslyDisableSandbox: false },
      { command: 'npm test', cwd: '/tree' },
      { command: ['/bin/zsh', '-lc', 'npm test'], cwd: '/tree', call_id: '1', parsed_cmd: [{}] },
      {
        ...{ command: ['bash', '-lc', 'npm test'], cwd: '/tree', started_at_ms: 0, reason: null },
        ...{ proposed_execpolicy_amendment: ['npm', 'test'], available_decisions: ['approved'] },
      },
      { command: 'npm test', description: 'Tests', is_background: false, directory: '/tree/' },
      { command: 'npm test', workdir: '/tree', timeout: 5 },
      { command: ['npm', 'test'] },
      { command: 'npm', args: ['test'] },
    ])
      assert.equal(plain(raw), 'npm test', JSON.stringify(raw));
  });

  it('is undefined where anything else decides what runs', () => {
    for (const raw of [
      { command: 'npm test', cwd: '/tmp' },
      { command: 'npm test', env: { NODE_OPTIONS: '--require ./evil.js' } },
      { command: 'npm test', stdin: 'rm -rf /' },
      { command: 'npm test', cmd: 'rm -rf /' },
      { command: 'npm test', Command: 'rm -rf /' },
      { command: 'npm test', sandbox: 'off', with_escalated_permissions: true },
      { command: 'npm test', sandbox: false },
      { command: 'npm test', container_id: 'other' },
      { command: 'npm test', args: 'publish' },
      { command: 'npm', args: ['test -- x'] },
      { command: ['npm', 'test'], args: ['a b'] },
      { command: ['npm', 'test', '*'] },
      { script: 'npm test' },
    ])
      assert.equal(plain(raw), undefined, JSON.stringify(raw));
  });
});

describe('otherArgumentsOf', () => {
  const others = (rawInput: unknown, kind = 'execute') =>
    otherArgumentsOf(mergeToolCall(undefined, { toolCallId: '1', kind, rawInput }), '/tree');

  it('is all that is not the command, and matters', () => {
    assert.equal(others({ command: 'ls', description: 'Lists', cwd: '/tree', env: {} }), undefined);
    assert.equal(
      others({ command: 'ls', cwd: '/etc', env: { A: 'b' }, stdin: 'x', timeout: 5 }),
      '{"cwd":"/etc","env":{"A":"b"},"stdin":"x"}',
    );
    assert.equal(others({ command: 'ls', cmd: 'rm' }), '{"cmd":"rm"}');
    assert.equal(others({ command: 7, args: 'x' }), '{"command":7,"args":"x"}');
    assert.equal(
      others({ url: 'http://a', title: 'b' }, 'fetch'),
      '{"url":"http://a","title":"b"}',
    );
    assert.equal(others(undefined), undefined);
  });

  it('is short, and a long argument does not hide the others', () => {
    const long = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [at, 'x'.repeat(9000)]));
    const told = others({ command: 'ls', a: 'x'.repeat(100_000), env: { A: 'b' }, z: 1 }) ?? '';
    assert.match(
      told,
      /^\{"a":"x+\\n\[… \d+ characters left out …\]\\nx+","env":\{"A":"b"\},"z":1\}$/,
    );
    assert.ok((others({ command: 'ls', ...long }) ?? '').length < 17_000);
  });
});

describe('stateIn', () => {
  const CASES: [kind: string, update: Record<string, unknown>, state: object | undefined][] = [
    ['usage_update', { used: 5, size: 10, cost: {} }, { context: { used: 5, size: 10 } }],
    ['usage_update', { used: '5' }, undefined],
    ['available_commands_update', { availableCommands: [{ name: 'a' }, 7] }, { commands: ['a'] }],
    [
      'config_option_update',
      { configOptions: [{ id: 'm', category: 'model', currentValue: 'x' }, { id: 'y' }, null] },
      { options: [{ id: 'm', name: 'm', value: 'x', category: 'model' }] },
    ],
    ['session_info_update', { title: 'Hi' }, { title: 'Hi' }],
    ['session_info_update', { _meta: { codex: { threadStatus: {} } } }, {}],
    ['session_info_update', { _meta: { codex: { other: 1 } } }, undefined],
    ['telepathy', {}, undefined],
    ['constructor', {}, undefined],
  ];
  for (const [kind, update, state] of CASES)
    it(`reads ${kind} ${JSON.stringify(update)}`, () =>
      assert.deepEqual(stateIn(kind, update), state));

  it('is told once, and again when it has changed', () => {
    const told: RunEvent[] = [];
    const { hear } = createTranscript((event) => told.push(event), 10);
    for (const used of [1, 1, 2]) hear({ sessionUpdate: 'usage_update', used, size: 9 });
    assert.deepEqual(
      told.map(({ type, data }) => ({ type, data })),
      [1, 2].map((used) => ({ type: 'agent_state', data: { context: { used, size: 9 } } })),
    );
  });
});

describe('createTranscript', () => {
  const open = () => {
    const events: RunEvent[] = [];
    const transcript = createTranscript((event) => events.push(event), 1000);
    transcript.begin();
    return { transcript, events };
  };
  const said = (text: string) => ({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text },
  });

  it('tells nothing of what a loaded session replays', () => {
    const events: RunEvent[] = [];
    const transcript = createTranscript((event) => events.push(event), 1000);
    const content = { type: 'text', text: 'the prompt of a former turn' };
    transcript.hear({ sessionUpdate: 'user_message_chunk', content });
    transcript.hear(said('the plan of a former turn'));
    transcript.begin();

    assert.deepEqual(events, []);
    assert.equal(transcript.acted(), false);
  });

  it('does not cut the last message at a late update of an earlier call', () => {
    const { transcript } = open();
    transcript.hear({ sessionUpdate: 'tool_call', toolCallId: '1', title: 'Read' });
    transcript.hear(said('The '));
    transcript.hear({ sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'completed' });
    transcript.hear(said('plan'));

    assert.equal(transcript.lastMessage(), 'The plan');
  });

  it('tells what a command writes while it writes it, repeated as a whole or piece by piece', () => {
    const { transcript, events } = open();
    const update = (toolCallId: string, more: object) =>
      transcript.hear({
        ...{ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' },
        ...more,
      });
    const whole = (text: string) => ({ content: [{ content: { type: 'text', text } }] });
    const piece = (data: string) => ({ _meta: { terminal_output_delta: { data } } });
    update('1', whole('a\n'));
    update('1', whole('a\nb\n'));
    update('2', piece('c\n'));
    update('2', piece('d\n'));
    update('2', piece('x'.repeat(5000)));
    update('2', piece('y'));
    update('2', { status: 'completed', rawOutput: { exit_code: 0 } });

    const told = events.flatMap((event) =>
      event.type === 'tool_output' ? [[event.data.tool_call_id, event.data.text]] : [],
    );
    assert.deepEqual(told, [
      ['1', 'a\n'],
      ['1', 'b\n'],
      ['2', 'c\n'],
      ['2', 'd\n'],
      ['2', 'x'.repeat(996)],
    ]);
    const gaps = events.flatMap((event) => (event.type === 'gap' ? [event.data.tool_call_id] : []));
    assert.deepEqual(gaps, ['2']);
    const last = events.at(-1);
    assert.ok(last?.type === 'tool_call' && last.data.output?.startsWith('c\nd\nxxx'));
    assert.ok(last.data.output?.endsWith('xy'));
  });

  it('tells what a call changes in files once it is over, capped', () => {
    const { transcript, events } = open();
    const diff = (path: string, newText: string, oldText?: string) => ({
      ...{ type: 'diff', path, newText },
      ...(oldText !== undefined && { oldText }),
    });
    const content = [
      diff('a.txt', 'two', 'one'),
      diff('b.txt', 'z'.repeat(20_000)),
      { type: 'diff' },
    ];
    const update = { sessionUpdate: 'tool_call_update', toolCallId: '1' };
    transcript.hear({ ...update, status: 'in_progress', content });
    transcript.hear({ ...update, status: 'completed' });

    const [begun, over] = events.flatMap((event) =>
      event.type === 'tool_call' ? [event.data] : [],
    );
    assert.equal(begun?.diffs, undefined);
    assert.deepEqual(over?.diffs?.[0], { path: 'a.txt', old_text: 'one', new_text: 'two' });
    assert.deepEqual([over?.diffs?.[1]?.old_text, over?.diffs?.length], [null, 2]);
    assert.ok((over?.diffs?.[1]?.new_text.length ?? 0) < 17_000);
    assert.deepEqual(over?.locations, ['a.txt', 'b.txt']);
  });

  it('tells a call again only when something of it changed', () => {
    const { transcript, events } = open();
    for (const status of ['pending', 'in_progress', 'in_progress', 'completed', 'completed']) {
      transcript.hear({ sessionUpdate: 'tool_call_update', toolCallId: '1', status });
    }

    assert.equal(events.length, 3);
  });

  it('drops nothing it does not understand', () => {
    const { transcript, events } = open();
    const image = { sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'x' } };
    for (const update of [image, { sessionUpdate: 'constructor' }, { what: 1 }, null, 'x']) {
      transcript.hear(update);
    }

    assert.deepEqual(
      events.map(({ type, data }) => [type, 'kind' in data && data.kind]),
      [
        ['agent_event', 'agent_message_chunk'],
        ['agent_event', 'constructor'],
        ['agent_event', 'unknown'],
        ['agent_event', 'unknown'],
        ['agent_event', 'unknown'],
      ],
    );
    assert.equal(transcript.acted(), false);
  });

  it('shows a changed file among the places of a call', () => {
    const { transcript, events } = open();
    const content = [{ type: 'diff', path: '/tree/a.ts', oldText: 'a', newText: 'b' }];
    transcript.hear({ sessionUpdate: 'tool_call', toolCallId: '1', title: 'Edit', content });

    assert.deepEqual(events[0]?.type === 'tool_call' && events[0].data.locations, ['/tree/a.ts']);
  });
});

describe('coalesce', () => {
  it('joins what one command writes, and never the output of two', () => {
    const events: RunEvent[] = [];
    const told = coalesce((event) => events.push(event));
    for (const [tool_call_id, text] of [
      ['1', 'a'],
      ['1', 'b'],
      ['2', 'c'],
    ] as const)
      told.tell({ type: 'tool_output', data: { tool_call_id, text } });
    told.flush();

    assert.deepEqual(
      events.map(({ data }) => data),
      [
        { tool_call_id: '1', text: 'ab' },
        { tool_call_id: '2', text: 'c' },
      ],
    );
  });

  it('joins text of a kind and keeps the order of everything', () => {
    const events: RunEvent[] = [];
    const told = coalesce((event) => events.push(event));
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: null };
    told.tell({ type: 'message', data: { text: 'a' } });
    told.tell({ type: 'message', data: { text: 'b' } });
    told.tell({ type: 'thought', data: { text: 'c' } });
    told.tell({ type: 'usage', data: usage });
    told.tell({ type: 'message', data: { text: 'd' } });
    told.flush();
    told.flush();

    assert.deepEqual(
      events.map(({ type, data }) => [type, 'text' in data && data.text]),
      [
        ['message', 'ab'],
        ['thought', 'c'],
        ['usage', false],
        ['message', 'd'],
      ],
    );
  });

  const pieces = (told: (coalescer: ReturnType<typeof coalesce>) => void): string[] => {
    const events: RunEvent[] = [];
    const coalescer = coalesce((event) => events.push(event));
    told(coalescer);
    coalescer.flush();
    return events.flatMap(({ data }) => ('text' in data ? data.text : []));
  };

  it('tells a long text without waiting, in pieces of 4,096 characters', () => {
    const text = 'x'.repeat(10_000);
    const told = pieces(({ tell }) => tell({ type: 'message', data: { text } }));

    assert.deepEqual(
      told.map(({ length }) => length),
      [4096, 4096, 1808],
    );
  });

  it('cuts no character in two', () => {
    const text = `x${'😀'.repeat(5000)}`;
    const told = pieces(({ tell }) => tell({ type: 'message', data: { text } }));

    assert.equal(Buffer.concat(told.map((piece) => Buffer.from(piece))).toString(), text);
    assert.ok(told.every(({ length }) => length <= 4096));
  });

  it('makes a few events of 100,000 pieces of one letter, and loses none', () => {
    const text = Array.from({ length: 100_000 }, (_, at) => String.fromCharCode(97 + (at % 26)));
    const told = pieces(({ tell }) => {
      for (const letter of text) tell({ type: 'thought', data: { text: letter } });
    });

    assert.equal(told.length, Math.ceil(100_000 / 4096));
    assert.equal(told.join(''), text.join(''));
  });

  it('tells a short text by itself after a while', async () => {
    const event = await new Promise<RunEvent>((resolve) => {
      coalesce(resolve).tell({ type: 'message', data: { text: 'a' } });
    });

    assert.deepEqual(event, { type: 'message', data: { text: 'a' } });
  });
});
