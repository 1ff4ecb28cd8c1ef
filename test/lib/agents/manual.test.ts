import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createManualProvider } from '../../../lib/agents/manual.ts';
import type { RunSpec } from '../../../lib/agents/provider.ts';
import { makePlace, specFor, watch } from './fixture.ts';

const planOn = (t: TestContext, awaitPlan: RunSpec['awaitPlan']) => {
  const spec = specFor(makePlace(t), 'plan', {}, { awaitPlan });
  return { spec, ...watch(t, (tell) => createManualProvider().start(spec, tell)) };
};

const workOn = (t: TestContext) => {
  const spec = specFor(makePlace(t), 'work', { plan: 'By hand.' });
  return watch(t, (tell) => createManualProvider().start(spec, tell));
};

describe('manual in Plan mode', () => {
  it('says where the plan goes and takes what the operator writes', async (t) => {
    const { run, of, spec } = planOn(t, async () => '# By hand\n');

    assert.deepEqual(await run.done, { outcome: 'completed', plan: '# By hand\n' });
    assert.ok(of('message')[0]?.text.includes(`${spec.session_dir}/plan.md`));
  });

  it('stops waiting when it is cancelled', async (t) => {
    const signals: AbortSignal[] = [];
    const { run } = planOn(t, (signal) => {
      signals.push(signal);
      return new Promise(() => {});
    });

    await run.cancel();

    assert.deepEqual(await run.done, { outcome: 'cancelled' });
    assert.equal(signals[0]?.aborted, true);
  });

  it('fails with the reason when the plan cannot be read', async (t) => {
    const { run } = planOn(t, () => Promise.reject(new Error('EACCES')));

    assert.deepEqual(await run.done, {
      outcome: 'failed',
      error: 'plan.md cannot be read: EACCES',
    });
  });

  it('is not finished by hand', (t) => {
    const { run } = planOn(t, () => new Promise(() => {}));

    assert.equal(run.finish(), false);
  });
});

describe('manual in Work mode', () => {
  it('ends when the operator says so, once', async (t) => {
    const { run, of } = workOn(t);

    assert.equal(run.finish(), true);
    assert.equal(run.finish(), false);
    assert.deepEqual(await run.done, { outcome: 'completed' });
    assert.match(of('message')[0]?.text ?? '', /approved plan/);
  });

  it('can be cancelled and killed', async (t) => {
    const { run } = workOn(t);

    await run.cancel();
    await run.kill();

    assert.deepEqual(await run.done, { outcome: 'cancelled' });
    assert.equal(run.finish(), false);
  });
});
