/** `npm run soak:consent` does the same for longer, and with a daemon that is killed. DOSSIER_SEED: where to begin. */
import { describe, it } from 'node:test';
import { provesTraces } from '../consent/controls.ts';
import { worldHere } from '../consent/here.ts';
import { tryMany } from '../consent/property.ts';

const first = Number(process.env.DOSSIER_SEED ?? 1);
const runs = Number(process.env.DOSSIER_CONSENT ?? (process.env.CI === 'true' ? 100 : 60));
// Each test has a time of its own.
const PARTS = 4;

describe('a workspace that somebody else wrote into', { concurrency: 5 }, () => {
  it('leaves every trace that is looked for, once the operator says yes', async (t) => {
    const { world } = await worldHere(t);
    await provesTraces(world);
  });

  for (let part = 0; part < PARTS; part += 1)
    it(`runs, sends and loosens nothing that the operator did not say yes to (${part + 1})`, async (t) => {
      const { world, inForce } = await worldHere(t);
      const many = Math.ceil(runs / PARTS);
      await tryMany(world, { first: first + part * many, runs: many, inForce });
    });
});
