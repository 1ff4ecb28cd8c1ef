/**
 * `npm run soak:model -- --runs 100000 --seed 7 --minutes 30`: the property for as long as one likes.
 * With `--daemon` the runs are lives of the built daemon, each of which is killed.
 */
import { it } from 'node:test';
import { parseArgs } from 'node:util';
import { killAtRandom } from './killed.ts';
import { tryPlans } from './property.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    path: { type: 'string' },
    minutes: { type: 'string', default: '30' },
    daemon: { type: 'boolean', default: false },
    'git-every': { type: 'string', default: '8' },
  },
});
const seed = Number(values.seed);
console.log(`seed ${seed}`);
const began = performance.now();

const killForReal = (): void => {
  it('loses nothing', (t) => killAtRandom(t, seed, Number(values.runs)));
};

const tryAll = async (): Promise<void> => {
  try {
    const { runs, steps, unavoidable } = await tryPlans({
      runs: Number(values.runs),
      seed,
      path: values.path,
      limitMs: Number(values.minutes) * 60_000,
      gitEvery: Number(values['git-every']),
    });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(
      `${runs} runs, ${steps} steps, ${unavoidable} unavoidable, ${seconds} s: no rule broken`,
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
};

if (values.daemon) killForReal();
else await tryAll();
