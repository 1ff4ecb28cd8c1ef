/** As consent-soak.test.ts, with the built daemon, killed in the middle of what it is asked. DOSSIER_SEED: where to begin. */
import { describe, it } from 'node:test';
import { worldOfProcess } from '../consent/here.ts';
import { tryMany } from '../consent/property.ts';

const first = Number(process.env.DOSSIER_SEED ?? 1);
const runs = process.env.CI === 'true' ? 10 : 2;
// Each test has a time of its own.
const PARTS = 2;

describe('a workspace that somebody else wrote into, with a daemon that is killed', () => {
  for (let part = 0; part < PARTS; part += 1)
    it(`runs, sends and loosens nothing that the operator did not say yes to (${part + 1})`, async (t) => {
      const many = Math.ceil(runs / PARTS);
      await tryMany(await worldOfProcess(t), { first: first + part * many, runs: many });
    });
});
