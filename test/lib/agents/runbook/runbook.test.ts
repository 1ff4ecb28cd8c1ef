import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Run, RunSpec } from '../../../../lib/agents/provider.ts';
import { createRunbookProvider } from '../../../../lib/agents/runbook/runbook.ts';
import { alive } from '../../../helpers/processes.ts';
import { depsFor, makePlace, type Place, specFor, watch } from '../fixture.ts';

const fence = (...scripts: string[]): string =>
  scripts.map((script) => `\`\`\`sh\n${script}\n\`\`\`\n`).join('\nand then\n\n');

const start = (t: TestContext, place: Place, spec: RunSpec) =>
  watch(t, (tell) => createRunbookProvider(depsFor(place)).start(spec, tell));

const workOn = (t: TestContext, plan: string, rest: Partial<RunSpec> = {}) => {
  const place = makePlace(t);
  const spec = specFor(place, 'work', { plan, description: fence('touch description') }, rest);
  return { place, spec, ...start(t, place, spec) };
};

describe('runbook in Plan mode', () => {
  it('proposes the blocks of the description and runs none of them', async (t) => {
    const place = makePlace(t);
    const spec = specFor(place, 'plan', { description: fence('touch made') });
    const { run } = start(t, place, spec);

    const result = await run.done;

    assert.equal(result.outcome, 'completed');
    assert.match(result.plan ?? '', /touch made/);
    assert.equal(existsSync(join(place.tree, 'made')), false);
  });
});

describe('runbook in Work mode', () => {
  it('runs the blocks of the approved plan in order, in the worktree, and nothing of the description', async (t) => {
    const { place, run, of } = workOn(t, fence('pwd > where', 'cat where\nprintf done > end'));

    assert.deepEqual(await run.done, { outcome: 'completed' });
    assert.equal(readFileSync(join(place.tree, 'where'), 'utf8'), `${place.tree}\n`);
    assert.equal(readFileSync(join(place.tree, 'end'), 'utf8'), 'done');
    assert.equal(existsSync(join(place.tree, 'description')), false);
    assert.deepEqual(
      of('tool_call').map(({ title, kind, status, output }) => [title, kind, status, output]),
      [
        ['pwd > where', 'execute', 'in_progress', undefined],
        ['pwd > where', 'execute', 'completed', ''],
        ['cat where … and 1 more line', 'execute', 'in_progress', undefined],
        ['cat where … and 1 more line', 'execute', 'completed', `${place.tree}\n`],
      ],
    );
  });

  it('stops at the first block that fails and says which, how, and what it wrote last', async (t) => {
    const { place, run, of } = workOn(t, fence('true', 'echo no luck >&2\nexit 3', 'touch never'));

    const { outcome, error } = await run.done;

    assert.equal(outcome, 'failed');
    assert.match(
      error ?? '',
      /^Block 2 of 3 \(echo no luck >&2 … and 1 more line\) ended with exit code 3\./,
    );
    assert.match(error ?? '', /no luck$/);
    assert.equal(of('tool_call').at(-1)?.status, 'failed');
    assert.equal(existsSync(join(place.tree, 'never')), false);
  });

  it('ends a block at its first failing command and at an unset variable', async (t) => {
    const failing = workOn(t, fence('false\ntouch after'));
    const unset = workOn(t, fence('echo "$NOT_SET_ANYWHERE"\ntouch after'));

    assert.equal((await failing.run.done).outcome, 'failed');
    assert.equal((await unset.run.done).outcome, 'failed');
    assert.equal(existsSync(join(failing.place.tree, 'after')), false);
    assert.equal(existsSync(join(unset.place.tree, 'after')), false);
  });

  it('gives a bash block to bash', async (t) => {
    const { run, of } = workOn(t, '```bash\n[[ abc == a* ]] && echo "$BASH_VERSION"\n```\n');

    assert.equal((await run.done).outcome, 'completed');
    assert.match(of('tool_call').at(-1)?.output ?? '', /^\d/);
  });

  it('runs nothing, and says so, when the approved plan holds no shell block', async (t) => {
    const { run, of } = workOn(t, 'Just prose, `sh` and\n\n    indented code\n');

    assert.deepEqual(await run.done, { outcome: 'completed' });
    assert.match(of('message')[0]?.text ?? '', /nothing was run/);
    assert.deepEqual(of('tool_call'), []);
  });

  it('tells head and tail of a long output', async (t) => {
    const { run, of } = workOn(
      t,
      fence('echo first\nhead -c 300000 /dev/zero | tr "\\0" x\necho\necho last'),
    );

    await run.done;

    const call = of('tool_call').at(-1);
    assert.equal(call?.truncated, true);
    assert.match(call?.output ?? '', /^first\n/);
    assert.match(call?.output ?? '', /left out[\s\S]*\nlast\n$/);
    assert.ok((call?.output?.length ?? 0) < 70_000);
  });

  it('does not let a command wait for an answer', async (t) => {
    const { run } = workOn(t, fence('read -r answer'));

    assert.equal((await run.done).outcome, 'failed');
  });

  it('ends what a block left running in the background', async (t) => {
    const { run, spec } = workOn(t, fence('setsid sleep 1000 > /dev/null 2>&1 &'));

    assert.equal((await run.done).outcome, 'completed');
    assert.equal(await alive(spec.run_marker), false);
  });

  for (const [what, stopAt] of [
    ['had ended', 2],
    ['had just begun', 3],
  ] as const)
    it(`has run its first block alone where a stop came when a block ${what}`, async (t) => {
      const saved: unknown[] = [];
      const place = makePlace(t);
      const saveBlocks: RunSpec['saveBlocks'] = async (...blocks) => void saved.push(blocks);
      const spec = specFor(place, 'work', { plan: fence('true', 'sleep 30') }, { saveBlocks });
      let calls = 0;
      const run: Run = createRunbookProvider(depsFor(place)).start(spec, ({ type }) => {
        calls += type === 'tool_call' ? 1 : 0;
        if (calls === stopAt) void run.cancel();
      });
      assert.deepEqual(await run.done, { outcome: 'cancelled' });
      assert.deepEqual(saved[0], [[], 'block-1']);
      assert.deepEqual(saved.at(-1), [['block-1']]);
    });

  it('runs no block of which it cannot be noted that it begins, as on a full disk, and can be resumed', async (t) => {
    const place = makePlace(t);
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const saveBlocks: RunSpec['saveBlocks'] = async (_done, begun) => {
      if (begun !== 'block-1') throw full;
    };
    const spec = specFor(place, 'work', { plan: fence('true', 'touch never') }, { saveBlocks });
    const { outcome, not_begun, error } = await createRunbookProvider(depsFor(place)).start(
      spec,
      () => undefined,
    ).done;
    assert.deepEqual([outcome, not_begun], ['failed', true]);
    assert.match(error ?? '', /^Block 2 of 2 was not run: ENOSPC: no space left on device\. Free/);
    assert.equal(existsSync(join(place.tree, 'never')), false);
  });

  it('is cancelled with its whole tree, and runs no further block', async (t) => {
    const { place, run, spec, next } = workOn(t, fence('sleep 1000', 'touch never'));
    await next('tool_call');

    await run.cancel();

    assert.deepEqual(await run.done, { outcome: 'cancelled' });
    assert.equal(await alive(spec.run_marker), false);
    assert.equal(existsSync(join(place.tree, 'never')), false);
  });

  it('lets a block be silent for longer than the idle limit, and ends it at the wall limit', async (t) => {
    const limits = { idle_ms: 50, output_bytes: 1e6 };
    const short = workOn(t, fence('sleep 0.5'), { limits: { ...limits, wall_ms: 120_000 } });
    assert.equal((await short.run.done).outcome, 'completed');
    const long = workOn(t, fence('sleep 1000'), { limits: { ...limits, wall_ms: 500 } });

    assert.match(
      (await long.run.done).error ?? '',
      /exceeded the time limit: .* limits\.wall_hours/,
    );
  });

  it('fails a block that writes more than the output limit', async (t) => {
    const { run } = workOn(t, fence('yes'), {
      limits: { idle_ms: 60_000, wall_ms: 120_000, output_bytes: 100_000 },
    });

    assert.match((await run.done).error ?? '', /exceeded the output limit: .* limits\.output_mb/);
  });

  it('has not begun, and does not throw, where a block cannot be started', async (t) => {
    const { run } = workOn(t, fence(`: ${'x'.repeat(200_000)}`));

    const { error = '', not_begun } = await run.done;
    assert.match(error, /could not be started/);
    assert.equal(not_begun, true);
  });

  it('knows no permission requests and no finish', async (t) => {
    const { run } = workOn(t, fence('true'));

    assert.equal(run.answer('x', 'y'), false);
    assert.equal(run.finish(), false);
    await run.done;
  });

  it('runs in the sandbox: nothing outside the worktree can be written', async (t) => {
    const place = makePlace(t);
    const deps = depsFor(place, 'auto');
    if (deps.sandbox.kind === 'none') return t.skip(deps.sandbox.reason);
    const plan = fence('touch inside', 'touch "$HOME/outside"');
    const spec = specFor(place, 'work', { plan });

    const { run } = watch(t, (tell) => createRunbookProvider(deps).start(spec, tell));

    assert.match((await run.done).error ?? '', /^Block 2 of 2/);
    assert.equal(existsSync(join(place.tree, 'inside')), true);
    assert.equal(existsSync(join(place.home, 'outside')), false);
  });
});
