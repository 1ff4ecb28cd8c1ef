/**
 * Random interleavings of API calls, hand edits, git, kills and restarts, against a model. A failure prints its seed,
 * its path and its story: `npm run soak:model -- --seed S --path P` makes that one run again.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tryPlans } from './property.ts';

const given = process.env.DOSSIER_SEED;

describe('a workspace that callers, hands, git and crashes work on at once', () => {
  it('loses no write, tells each change once, and says what the files say', async (t) => {
    const seed = given === undefined ? Date.now() & 0x7fffffff : Number(given);
    const done = await tryPlans({ runs: 250, seed, limitMs: 30_000, gitEvery: 8 });
    t.diagnostic(`seed ${seed}: ${done.runs} runs, ${done.steps} steps`);
    assert.ok(done.runs > 0 && done.steps > 50 * done.runs);
  });
});
