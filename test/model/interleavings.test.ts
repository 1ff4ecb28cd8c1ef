/**
 * Random interleavings of API calls, hand edits, git, kills and restarts, against a model: the same ones each time, or
 * those of another seed in DOSSIER_SEED. A failure prints its seed, its path and its story:
 * `npm run soak:model -- --seed S --path P` makes that one run again, and without a seed the soak looks for new ones.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tryPlans } from './property.ts';

const seed = Number(process.env.DOSSIER_SEED ?? 21);

describe('a workspace that callers, hands, git and crashes work on at once', () => {
  it('loses no write, tells each change once, and says what the files say', async (t) => {
    const done = await tryPlans({ runs: 100, seed, limitMs: 30_000, gitEvery: 8 });
    t.diagnostic(`seed ${seed}: ${done.runs} runs, ${done.steps} steps`);
    assert.ok(done.runs > 0 && done.steps > 50 * done.runs);
  });
});
