import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { PermissionPolicy } from '../../../../lib/agents/permissions.ts';
import type { Phase, RunSpec } from '../../../../lib/agents/provider.ts';
import { createProviders } from '../../../../lib/agents/providers.ts';
import type { SandboxSetting } from '../../../../lib/sandbox/sandbox.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { alive } from '../../../helpers/processes.ts';
import { depsFor, makePlace, type Place, specFor, watch } from '../fixture.ts';

const AGENT = fileURLToPath(new URL('../../../helpers/acp-agent.js', import.meta.url));

interface Setting {
  sandbox?: SandboxSetting;
  permissions?: Partial<PermissionPolicy>;
  modes?: { plan?: string; work?: string };
}

const providerFor = (place: Place, behaviour: string, setting: Setting = {}) => {
  const { permissions = {}, modes = { plan: 'plan' } } = setting;
  const how = { command: process.execPath, args: [AGENT, behaviour], modes, state_dirs: ['~/'] };
  const settings = { providers: { fake: { kind: 'acp' as const, ...how } }, permissions };
  const provider = createProviders(settings, depsFor(place, setting.sandbox)).get('fake');
  assert.ok(provider);
  return provider;
};

const startOn = (
  t: TestContext,
  behaviour: string,
  phase: Phase = 'work',
  rest: Partial<RunSpec> & Setting = {},
) => {
  const place = makePlace(t);
  const spec = specFor(place, phase, { plan: '# The plan\n' }, rest);
  const provider = providerFor(place, behaviour, rest);
  return { place, spec, ...watch(t, (tell) => provider.start(spec, tell)) };
};

const fileOf = ({ tree }: Place): string => readFileSync(join(tree, 'a.txt'), 'utf8');

describe('an acp run in Plan mode', () => {
  it('takes as the plan what was said after the last tool call, and tells all of it', async (t) => {
    const { run, of } = startOn(t, 'plan', 'plan');

    const result = await run.done;

    assert.equal(result.outcome, 'completed');
    assert.equal(result.plan, '# The plan\n\n1. Change a.txt');
    assert.deepEqual(result.usage, { input_tokens: 30, output_tokens: 4, cost_usd: 0.5 });
    assert.match(result.native_session_id ?? '', /^s-\d+$/);
    assert.deepEqual(
      of('message').map(({ text }) => text),
      ['Let me look first.', '# The plan\n\n1. Change a.txt'],
    );
    assert.deepEqual(of('thought'), [{ text: 'Hm.' }]);
    assert.deepEqual(of('plan'), [{ entries: [{ content: 'Change a.txt', status: 'pending' }] }]);
    assert.deepEqual(of('tool_call').at(-1), {
      tool_call_id: 'read-1',
      title: 'read-1',
      kind: 'read',
      status: 'completed',
      output: 'one',
      locations: ['a.txt'],
    });
    assert.deepEqual(of('usage').at(-1), result.usage);
  });

  it('sets the plan mode that the agent lists', async (t) => {
    const { run, of } = startOn(t, 'plan', 'plan');

    await run.done;

    assert.deepEqual(of('agent_state')[0], { mode: 'plan' });
  });

  it('never sends a mode that the agent does not list, and says so', async (t) => {
    const { run, of } = startOn(t, 'plan', 'plan', { modes: { plan: 'dreaming' } });

    assert.equal((await run.done).outcome, 'completed');
    assert.deepEqual(of('agent_event')[0], { kind: 'mode_not_set', raw: { wanted: ['dreaming'] } });
  });

  it('sets the mode by the option where the agent has both ways', async (t) => {
    const { run, of } = startOn(t, 'two-ways', 'plan');

    assert.equal((await run.done).plan, 'The plan.');
    assert.deepEqual(of('agent_state'), [{ mode: 'how=plan' }]);
  });

  it('sets the mode last, whatever was chosen before', async (t) => {
    const { run } = startOn(t, 'choose', 'plan', { choice: { model: 'deep', effort: 'high' } });

    assert.equal((await run.done).plan, 'Chosen: brain=deep thinking=high how=plan.');
  });

  it('has all that was said before the end of the turn, in order, however fast it came', async (t) => {
    const { run, of } = startOn(t, 'burst', 'plan');

    const all = Array.from({ length: 500 }, (_, at) => `${at} `).join('');
    assert.equal((await run.done).plan, all.trim());
    assert.equal(
      of('message')
        .map(({ text }) => text)
        .join(''),
      all,
    );
  });

  it('refuses an edit without asking anybody', async (t) => {
    const { run, place, of } = startOn(t, 'edit', 'plan');

    const { error } = await run.done;

    assert.match(error ?? '', /without writing a plan/);
    assert.equal(fileOf(place), 'one\n');
    assert.deepEqual(of('permission_request'), []);
    const [resolved] = of('permission_resolved');
    assert.equal(resolved?.option_id, 'no');
    assert.equal(resolved?.by, 'policy');
  });

  it('takes the plan from the question whether it may be carried out, and ends the turn', async (t) => {
    const { run, of } = startOn(t, 'plan-question', 'plan');

    const result = await run.done;

    assert.equal(result.outcome, 'completed');
    assert.equal(result.plan, '# From the question');
    assert.equal(of('permission_resolved')[0]?.option_id, 'no');
  });

  it('leaves a note about the mode out of the plan, and adds up usage told call by call', async (t) => {
    const { run } = startOn(t, 'mode-note', 'plan');

    const result = await run.done;

    assert.equal(result.plan, 'The plan.');
    assert.deepEqual(result.usage, { input_tokens: 11, output_tokens: 5, cost_usd: null });
  });

  it('fails when the agent ends its turn without anything', async (t) => {
    const { run } = startOn(t, 'silent', 'plan');

    assert.match((await run.done).error ?? '', /without any text or action/);
  });

  it('is held by the sandbox even where the agent asks nobody', async (t) => {
    const place = makePlace(t);
    const { sandbox } = depsFor(place, 'auto');
    if (sandbox.kind === 'none') return t.skip(sandbox.reason);
    const provider = providerFor(place, 'scribble', { sandbox: 'auto' });

    const { run } = watch(t, (tell) => provider.start(specFor(place, 'plan'), tell));

    assert.match((await run.done).plan ?? '', /EROFS/);
    assert.equal(fileOf(place), 'one\n');
  });
});

describe('an acp run that is quiet', () => {
  const limits = { idle_ms: 60_000, wall_ms: 120_000, output_bytes: 1_000_000, quiet_ms: 20 };

  it('says that it waits for an agent that does not answer', async (t) => {
    const { next } = startOn(t, 'stuck', 'plan', { limits });

    const told = await next('waiting');

    assert.equal(told.for, 'agent');
    assert.match(told.message, /has not answered yet/);
    assert.ok(Date.parse(told.since) <= Date.now());
  });

  it('says that it waits for a model, once', async (t) => {
    const { next, of, run } = startOn(t, 'deaf', 'plan', { limits: { ...limits, quiet_ms: 500 } });
    await next('message');

    const ofModel = () => of('waiting').filter((each) => each.for === 'model');
    await eventually(async () => assert.equal(ofModel().length, 1));
    await run.cancel();

    assert.equal(ofModel().length, 1);
  });

  it('does not take a command that runs for it', async (t) => {
    const { next, of, run } = startOn(t, 'long-command', 'work', { limits });
    const waits = () => of('waiting').filter((each) => each.for === 'model');
    await next('tool_call');
    // On a slow machine the agent was quiet before.
    const before = waits();
    await next('message');
    await run.cancel();

    assert.deepEqual(waits(), before);
    assert.equal(of('tool_call').at(-1)?.status, 'killed');
  });

  it('says when it is over', async (t) => {
    const { next, of, run } = startOn(t, 'late', 'plan', { limits });

    const { since } = await next('waiting_over');
    await run.done;

    assert.equal(of('waiting').at(0)?.since, since);
  });
});

describe('an acp run in Work mode', () => {
  it('gives the agent the approved plan word for word', async (t) => {
    const { run, of } = startOn(t, 'echo');

    await run.done;

    const prompt = of('message')
      .map(({ text }) => text)
      .join('');
    assert.ok(prompt.includes('```markdown\n# The plan\n```'));
  });

  it('allows an edit in the worktree once', async (t) => {
    const { run, place, of } = startOn(t, 'edit');

    assert.equal((await run.done).outcome, 'completed');
    assert.equal(fileOf(place), 'changed\n');
    assert.equal(of('permission_resolved')[0]?.option_id, 'yes');
  });

  it('says what the agent was refused when it gives up over it', async (t) => {
    const { run } = startOn(t, 'gives-up', 'plan');

    const { outcome, error } = await run.done;

    assert.equal(outcome, 'failed');
    assert.match(error ?? '', /gave up after a request was refused: Edit a\.txt\. In Plan mode/);
  });

  it('asks the operator about a command and passes the answer on', async (t) => {
    const { run, next, of } = startOn(t, 'permission');
    const request = await next('permission_request');

    assert.deepEqual(
      request.options.map(({ option_id }) => option_id),
      ['yes', 'no', 'allow_prefix'],
    );
    assert.equal(request.title, 'npm test');
    assert.equal(run.answer('unknown', 'yes'), false);
    assert.equal(run.answer(request.request_id, 'always'), false);
    assert.equal(run.answer(request.request_id, 'yes'), true);
    assert.equal(run.answer(request.request_id, 'yes'), false);
    assert.equal((await run.done).outcome, 'completed');
    assert.deepEqual(of('message'), [{ text: 'yes' }]);
    assert.equal(of('permission_resolved')[0]?.by, 'operator');
  });

  it('lets an allowed command through without asking', async (t) => {
    const { run, of } = startOn(t, 'permission', 'work', {
      permissions: { execute: ['npm test'] },
    });

    await run.done;

    assert.deepEqual(of('message'), [{ text: 'yes' }]);
    assert.deepEqual(of('permission_request'), []);
  });

  it('answers what is open with "cancelled" when it is cancelled', async (t) => {
    const { run, next, of } = startOn(t, 'permission');
    const { request_id } = await next('permission_request');

    await run.cancel();

    assert.equal((await run.done).outcome, 'cancelled');
    assert.equal(run.answer(request_id, 'yes'), false);
    assert.equal(of('permission_resolved')[0]?.option_id, null);
    assert.deepEqual(of('message'), [{ text: 'cancelled' }]);
  });

  it('remembers that it was cancelled, whatever the agent calls the end of the turn', async (t) => {
    const { run, next, spec } = startOn(t, 'hang');
    await next('message');

    await run.cancel();

    const result = await run.done;
    assert.equal(result.outcome, 'cancelled');
    assert.match(result.native_session_id ?? '', /^s-/);
    assert.equal(await alive(spec.run_marker), false);
  });

  it('leaves no process that hid where it comes from', async (t) => {
    const { run, next, spec } = startOn(t, 'escape');
    const { text } = await next('message');
    assert.equal(process.kill(Number(text), 0), true);

    await run.kill();

    assert.equal(await alive(spec.run_marker, { dir: spec.cwd }), false);
  });

  for (const behaviour of ['deaf', 'stubborn', 'orphan', 'hydra']) {
    it(`leaves no process of an agent that is ${behaviour} when it is killed`, async (t) => {
      const { run, next, spec } = startOn(t, behaviour);
      await next('message');
      assert.equal(await alive(spec.run_marker), true);

      await run.kill();

      assert.equal((await run.done).outcome, 'cancelled');
      assert.equal(await alive(spec.run_marker), false);
    });
  }

  it('can be cancelled before its session is open', async (t) => {
    const { run, spec } = startOn(t, 'stuck');

    await run.cancel();

    assert.equal((await run.done).outcome, 'cancelled');
    assert.equal(await alive(spec.run_marker), false);
  });

  it('ends what an agent leaves behind when its turn ends', async (t) => {
    const { run, spec } = startOn(t, 'litter');

    assert.equal((await run.done).outcome, 'completed');
    assert.equal(await alive(spec.run_marker), false);
  });

  it('gives the agent none of the environment but what is listed and what its settings add', async (t) => {
    const place = makePlace(t);
    const deps = depsFor(place);
    const env = { ...deps.env, WEBHOOK_SECRET: 's', GH_TOKEN: 's', OPENAI_API_KEY: 'k' };
    const agent = {
      kind: 'acp' as const,
      preset: 'qwen',
      command: process.execPath,
      args: [AGENT, 'environment'],
      env: { MINE: '1' },
    };
    const provider = createProviders({ providers: { agent } }, { ...deps, env }).get('agent');
    assert.ok(provider);

    const { run, of } = watch(t, (tell) => provider.start(specFor(place, 'work'), tell));

    await run.done;
    const names = of('message')[0]?.text.split(' ') ?? [];
    for (const name of ['MINE', 'OPENAI_API_KEY', 'PATH', 'HOME'])
      assert.ok(names.includes(name), name);
    for (const name of ['WEBHOOK_SECRET', 'GH_TOKEN']) assert.ok(!names.includes(name), name);
  });

  it('fails with the exit code and the last words of an agent that crashed', async (t) => {
    const { run } = startOn(t, 'crash');

    const { outcome, error } = await run.done;

    assert.equal(outcome, 'failed');
    assert.match(error ?? '', /^The agent ended with exit code 7\. Its last output:\nout of luck$/);
  });

  it('fails when the agent goes away with its turn open, whatever its exit code', async (t) => {
    const { run } = startOn(t, 'clean-exit');

    const { outcome, error } = await run.done;

    assert.deepEqual([outcome, error], ['failed', 'The agent ended with exit code 0.']);
  });

  it('closes what it asked when the agent crashes', async (t) => {
    const { run, next, of } = startOn(t, 'crash-asking');
    const { request_id } = await next('permission_request');

    assert.match((await run.done).error ?? '', /exit code 7/);
    assert.equal(of('permission_resolved')[0]?.request_id, request_id);
    assert.equal(of('permission_resolved')[0]?.option_id, null);
    assert.equal(run.answer(request_id, 'yes'), false);
  });

  it('fails at the output limit when one message is too large', async (t) => {
    const { run, spec } = startOn(t, 'huge-line');

    assert.match((await run.done).error ?? '', /output limit/);
    assert.equal(await alive(spec.run_marker), false);
  });

  it('tells 20 MB of text in pieces, all of it, and takes none of it for a plan', async (t) => {
    const { run, of } = startOn(t, 'talkative', 'plan');
    const result = await run.done;
    assert.deepEqual([result.outcome, result.plan], ['failed', undefined]);
    assert.match(result.error ?? '', /longer than 1 Mi characters.*shorter plan/);
    const lengths = of('message').map(({ text }) => text.length);
    const sum = lengths.reduce((all, length) => all + length, 0);
    assert.equal(sum, 100_000 + 20 * 1024 * 1024);
    assert.ok(Math.max(...lengths) <= 4096);
    assert.ok(lengths.length < 20_000, `${lengths.length} events`);
  });

  it('tells output that repeats and grows to 20 MB once, head and tail, and counts the rest', async (t) => {
    const { run, of } = startOn(t, 'growing-output', 'plan');
    assert.equal((await run.done).outcome, 'completed');
    const calls = of('tool_call');
    assert.deepEqual(
      calls.map(({ status, truncated }) => [status, truncated]),
      [
        ['in_progress', undefined],
        ['completed', true],
      ],
    );
    const left = 20 * 1024 * 1024 - 65_536;
    assert.match(
      calls[1]?.output ?? '',
      new RegExp(`^z+\n\\[… ${left} characters left out …\\]\nz+$`),
    );
  });

  it('fails at the idle limit', async (t) => {
    const { run } = startOn(t, 'deaf', 'work', {
      limits: { idle_ms: 1500, wall_ms: 120_000, output_bytes: 1e6 },
    });

    assert.match((await run.done).error ?? '', /idle limit/);
  });

  it('does not count a tool call that runs for it', async (t) => {
    const { run } = startOn(t, 'silent-command', 'work', {
      limits: { idle_ms: 4000, wall_ms: 120_000, output_bytes: 1e6 },
    });

    const { outcome, error } = await run.done;
    assert.equal(outcome, 'completed', error);
  });

  it('fails when it goes on for too long, though it is never silent', async (t) => {
    const limits = { idle_ms: 60_000, wall_ms: 2000, output_bytes: 1e9 };
    const { run } = startOn(t, 'chatter', 'work', { limits });

    assert.match((await run.done).error ?? '', /exceeded the time limit: .* limits\.wall_hours/);
  });

  it('tells updates of an unknown kind, capped, and goes on', async (t) => {
    const { run, of } = startOn(t, 'unknown-update');

    assert.equal((await run.done).outcome, 'completed');
    const [small, large] = of('agent_event');
    assert.deepEqual(small, {
      kind: 'telepathy',
      raw: { sessionUpdate: 'telepathy', strength: 9 },
    });
    assert.equal(large?.kind, 'telepathy');
    assert.ok(JSON.stringify(large).length < 20_000);
  });

  it('tells the output of a call once, head and tail, also of one that never ended', async (t) => {
    const { run, of } = startOn(t, 'late-output');

    await run.done;

    const [begun, ended, ...more] = of('tool_call');
    assert.equal(begun?.output, undefined);
    assert.equal(ended?.truncated, true);
    assert.ok((ended?.output?.length ?? 0) < 70_000);
    assert.deepEqual(more, []);
  });

  it('says what the agent answered with when it answers with an error', async (t) => {
    const failing = startOn(t, 'error');
    const locked = startOn(t, 'locked');
    const refusing = startOn(t, 'refusal');
    const old = startOn(t, 'old');

    assert.match((await failing.run.done).error ?? '', /the model is on holiday/);
    assert.match((await locked.run.done).error ?? '', /Log in with the agent/);
    assert.match((await refusing.run.done).error ?? '', /refused to continue/);
    assert.match((await old.run.done).error ?? '', /version 0 of the Agent Client Protocol/);
  });

  it('goes on with the session of the plan turn, and does not tell its history again', async (t) => {
    const place = makePlace(t);
    const planned = watch(t, (tell) =>
      providerFor(place, 'plan').start(specFor(place, 'plan'), tell),
    );
    const { native_session_id } = await planned.run.done;
    assert.ok(native_session_id);
    const spec = specFor(place, 'work', { plan: 'x' }, { native_session_id });

    const worked = watch(t, (tell) => providerFor(place, 'echo').start(spec, tell));

    assert.equal((await worked.run.done).native_session_id, native_session_id);
    assert.deepEqual(worked.of('agent_event')[0]?.kind, 'session_not_resumed');
    assert.equal(
      worked.of('message').some(({ text }) => text.includes('Old words')),
      false,
    );
  });

  it('says again what the operator said and its conversation has lost', async (t) => {
    const place = makePlace(t);
    const messages = ['Kept.'];
    const hearing = { takeMessages: () => messages.splice(0) };
    const { run } = watch(t, (tell) =>
      providerFor(place, 'echo').start(specFor(place, 'work', { plan: 'x' }, hearing), tell),
    );
    const { native_session_id } = await run.done;
    assert.ok(native_session_id);
    const before = { plan: 'x', messages_before: ['Kept.', 'Lost.'] };
    const spec = specFor(place, 'work', before, { native_session_id });

    const worked = watch(t, (tell) => providerFor(place, 'echo').start(spec, tell));

    assert.equal((await worked.run.done).native_session_id, native_session_id);
    const prompt = worked
      .of('message')
      .map(({ text }) => text)
      .join('');
    assert.ok(prompt.includes('Lost.') && !prompt.includes('Kept.'), prompt);
  });

  it('begins a new session where the old one cannot be had', async (t) => {
    const { run, of } = startOn(t, 'echo', 'work', { native_session_id: 's-lost' });

    const result = await run.done;

    assert.equal(result.outcome, 'completed');
    assert.notEqual(result.native_session_id, 's-lost');
    assert.match(
      of('message')
        .map(({ text }) => text)
        .join(''),
      /# The plan/,
    );
    assert.deepEqual(
      of('agent_event').map(({ kind }) => kind),
      ['session_not_resumed', 'session_not_resumed'],
    );
  });
});

describe('the probe of an acp provider', () => {
  it('shakes hands and tells the version', async (t) => {
    const place = makePlace(t);

    assert.deepEqual(await providerFor(place, 'plan').probe(), {
      id: 'fake',
      kind: 'acp',
      isolation: 'checked',
      login: 'unknown',
      available: true,
      version: '1.2.3',
    });
  });

  it('tells why an agent that does not answer is not available', async (t) => {
    const place = makePlace(t);

    const info = await providerFor(place, 'old').probe();

    assert.equal(info.available, false);
    assert.match(info.reason ?? '', /version 0 of the Agent Client Protocol/);
  });
});

describe('what is known of an agent', () => {
  it('is asked anew when its program is another file, and only then', async (t) => {
    const place = makePlace(t);
    const program = join(place.home, 'agent');
    const started = join(place.home, 'started');
    const install = (behaviour: string): void => {
      const line = `echo x >> ${started}; exec ${process.execPath} ${AGENT} ${behaviour}`;
      writeFileSync(`${program}.new`, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
      renameSync(`${program}.new`, program);
    };
    const deps = depsFor(place);
    const env = { ...deps.env, PATH: `${place.home}:${deps.env.PATH}` };
    const settings = { providers: { mine: { kind: 'acp' as const, command: 'agent' } } };
    const provider = createProviders(settings, { ...deps, env }).get('mine');
    assert.ok(provider);
    assert.match((await provider.probe()).reason ?? '', /agent is not installed/);
    install('plan');
    assert.equal((await provider.probe()).available, true);
    assert.equal((await provider.probe()).available, true);
    assert.equal(readFileSync(started, 'utf8'), 'x\n');
    install('old');
    assert.match((await provider.probe()).reason ?? '', /version 0 of the Agent Client Protocol/);
  });

  it('says how Codex is logged in, which a key alone does not do', async (t) => {
    const place = makePlace(t);
    const codex = { kind: 'acp' as const, command: process.execPath, args: [AGENT, 'locked'] };
    const provider = createProviders({ providers: { codex } }, depsFor(place)).get('codex');
    assert.ok(provider);

    const { run } = watch(t, (tell) => provider.start(specFor(place, 'plan'), tell));

    assert.match((await run.done).error ?? '', /codex login --with-api-key/);
  });
});

describe('the state of an agent in the sandbox', () => {
  it('is where the operator moved it by its variable, as a copy that leaves nothing there', async (t) => {
    const place = makePlace(t);
    const deps = depsFor(place, 'auto');
    if (deps.sandbox.kind === 'none') return t.skip(deps.sandbox.reason);
    const moved = join(place.root, 'moved');
    const settings = {
      providers: {
        codex: { kind: 'acp' as const, command: process.execPath, args: [AGENT, 'plan'] },
      },
    } satisfies Parameters<typeof createProviders>[0];
    const env = { ...deps.env, CODEX_HOME: moved };
    const provider = createProviders(settings, { ...deps, env }).get('codex');
    assert.ok(provider);

    const { run } = watch(t, (tell) => provider.start(specFor(place, 'plan'), tell));
    const { outcome, error } = await run.done;

    assert.equal(outcome, 'completed', error);
    assert.equal(existsSync(moved), false);
    assert.equal(existsSync(join(place.home, '.codex')), false);
  });
});
