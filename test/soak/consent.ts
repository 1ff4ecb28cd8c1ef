/**
 * `npm run soak:consent [-- --runs 10000 --seed 7]`: writes into workspaces what a pull or another program could, and looks for
 * traces of what nobody said yes to. With `--daemon` the built daemon, killed in the middle.
 */
import { it } from 'node:test';
import { parseArgs } from 'node:util';
import { worldHere, worldOfProcess } from '../consent/here.ts';
import { tryMany } from '../consent/property.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() & 0xffffff) },
    daemon: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed);
const runs = Number(values.runs ?? (values.daemon ? 300 : 10_000));
console.log(`seed ${first}`);

it(`holds in ${runs} workspaces`, async (t) => {
  if (values.daemon) return tryMany(await worldOfProcess(t), { first, runs });
  const { world, inForce } = await worldHere(t);
  return tryMany(world, { first, runs, inForce });
});
