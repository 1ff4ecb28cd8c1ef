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

describe('an error of the file system', () => {
  it('does not say that nothing was changed where a rename was done though it failed', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['change the title', 'create a Work item', 'delete the Work item'];
    const [met, wrong] = await tried({ most: 0, operations, fault: 'rename * EIO once done' });
    assert.equal(wrong, '');
    assert.ok(met >= 3);
  });

  it('does not say that nothing was trusted where it was', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['trust an edited setting'];
    const [met, wrong] = await tried({ most: 0, operations, fault: 'list * ENFILE once' });
    assert.equal(wrong, '');
    assert.ok(met >= 3);
    // The decision is written, and cannot be read back.
    const [, unread] = await tried({ most: 0, operations, fault: 'open 5 EINTR once' });
    assert.equal(unread, '');
  });

  it('leaves no file out of a snapshot', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['take a snapshot of the global memory'];
    const [met, wrong] = await tried({ most: 0, operations, fault: 'list * EIO once' });
    assert.equal(wrong, '');
    assert.ok(met >= 2);
  });

  it('of a link into .dossier/undo, from then on, is answered as it is', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['verify a proof, which resolves the Work item'];
    const [met, wrong] = await tried({ most: 0, operations, fault: 'link * EIO stays' });
    assert.equal(wrong, '');
    assert.ok(met >= 2);
  });

  it('of a removal that was done is a removal', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['delete a proof'];
    const [met, wrong] = await tried({ most: 0, operations, fault: 'rename 1 EIO once done' });
    assert.equal(wrong, '');
    assert.equal(met, 1);
  });

  it('of the removal of a former name leaves both names readable', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['rename a file in the editor'];
    const [met, wrong] = await tried({ most: 0, operations, fault: 'unlink 1 EIO stays' });
    assert.equal(wrong, '');
    assert.equal(met, 1);
  });

  it('leaves no session working with nothing that runs where its records cannot be written', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['approve the plan, which runs'];
    // The text that runs cannot be read once the record says that it runs.
    for (const fault of ['make 20 EIO stays', 'read 64 EIO stays']) {
      const [met, wrong] = await tried({ most: 0, operations, fault });
      assert.equal(wrong, '');
      assert.equal(met, 1);
    }
  });

  it('holds back no plan that the daemon wrote', async (t) => {
    if (!canTrace(t)) return;
    const operations = ['approve the plan, which runs'];
    const [met, wrong] = await tried({ most: 0, operations, fault: 'open 171 ENFILE stays' });
    assert.equal(wrong, '');
    assert.equal(met, 1);
  });

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
