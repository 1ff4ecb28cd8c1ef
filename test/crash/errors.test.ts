/** Errors that were answered wrongly once; `npm run crash -- --only errors` tries all of them. DOSSIER_SEED: where to begin. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { canTrace } from '../helpers/strace.ts';
import { type ErrorSearch, linesOfTried, searchErrors } from './errors.ts';

const seed = Number(process.env.DOSSIER_SEED ?? 1);

/** How many failed, and what was wrong. */
const tried = async (wanted: Omit<ErrorSearch, 'seed'>): Promise<[number, string]> => {
  const all = (await searchErrors({ seed, ...wanted })).tried;
  const wrong = all.filter((one) => one.wrong !== undefined);
  return [all.length, wrong.map((one) => linesOfTried(one).join('\n')).join('\n\n')];
};

/** A test that errors, injected into operations, are answered truly and lose nothing. Each `fault` has to be met so often. */
const itAnswers = (
  what: string,
  operations: string[],
  faults: Readonly<Record<string, number>>,
): void => {
  it(what, async (t) => {
    if (!canTrace(t)) return;
    for (const [fault, least] of Object.entries(faults)) {
      const [met, wrong] = await tried({ most: 0, operations, fault });
      assert.equal(wrong, '');
      // One with a number is one call.
      if (fault.includes('*')) assert.ok(met >= least, `${fault}: met ${met} times`);
      else assert.equal(met, least, fault);
    }
  });
};

describe('an error of the file system', () => {
  itAnswers(
    'does not say that nothing was changed where a rename was done though it failed',
    ['change the title', 'create a Work item', 'delete the Work item'],
    { 'rename * EIO once done': 3 },
  );
  itAnswers(
    'does not say that nothing was trusted where it was',
    ['trust an edited setting'],
    // At the second, the decision is written and cannot be read back.
    { 'list * ENFILE once': 3, 'open 5 EINTR once': 1 },
  );
  itAnswers('leaves no file out of a snapshot', ['take a snapshot of the global memory'], {
    'list * EIO once': 2,
  });
  itAnswers(
    'of a link into .dossier/undo, from then on, is answered as it is',
    ['verify a proof, which resolves the Work item'],
    { 'link * EIO stays': 2 },
  );
  itAnswers('of a removal that was done is a removal', ['delete a proof'], {
    'rename 1 EIO once done': 1,
  });
  itAnswers(
    'of the removal of a former name leaves both names readable',
    ['rename a file in the editor'],
    { 'unlink 1 EIO stays': 1 },
  );
  itAnswers(
    'leaves no session working with nothing that runs where its records cannot be written',
    ['approve the plan, which runs'],
    // At the second, the text that runs cannot be read once the record says that it runs.
    { 'make 20 EIO stays': 1, 'read 64 EIO stays': 1 },
  );
  itAnswers(
    'holds back nothing that the daemon wrote',
    ['approve the plan, which runs'],
    // At the second, the record of a run without a sandbox is written and cannot be synced.
    { 'open 171 ENFILE stays': 1, 'fsync 8 EINTR stays': 1 },
  );

  it('is answered as it is while a session works, and when it is finished', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['approve the plan, which runs', 'finish work by hand'];
    const [met, wrong] = await tried({ most: 6, operations });
    assert.equal(wrong, '');
    assert.ok(met >= 8, `${met} errors are too few`);
  });

  it('is found where the answer is wrong', async (t) => {
    if (!canTrace(t)) return;
    // No disk does that: it has no room, and has made the change.
    const fault = 'rename * ENOSPC once done';
    const [, wrong] = await tried({ most: 0, operations: ['change the title'], fault });
    assert.match(wrong, /Nothing was changed.*After/s);
  });
});
