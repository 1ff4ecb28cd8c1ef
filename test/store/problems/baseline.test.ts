import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isFromBaseline } from '../../../store/reconcile/items.ts';
import { sweepWorkspace } from '../../../store/reconcile/sweep.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';
import { STATE_DIR } from '../../helpers/state-dir.ts';
import { openCompared } from '../../helpers/workspace.ts';

describe('the baseline of a workspace', () => {
  it('has the Work items that were there before its journal, and none that came later', async (t) => {
    const root = temporaryDirectory(t);
    const make = (name: string): string => {
      const id = randomUUID();
      const head = `id: ${id}\ntitle: T\ntype: bug\nstate: OPEN\ncreated_at: 2026-01-01T00:00:00.000Z`;
      writeFiles(join(root, 'cases/2026-01', name), { 'case.md': `---\n${head}\n---\n` });
      return id;
    };
    const before = make('before');
    const open = () =>
      openCompared(root, {
        state: STATE_DIR,
        clock: () => new Date(),
        follow: () => undefined,
        report: (error, what) => assert.fail(`${what}: ${error}`),
        trust: true,
      });
    let life = await open();
    atEnd(t, () => life.close());
    const later = make('later');
    await sweepWorkspace(life.store);
    assert.deepEqual(
      [before, later].map((id) => isFromBaseline(life.store, id)),
      [true, false],
    );
    await life.close();
    life = await open();
    assert.equal(isFromBaseline(life.store, before), false);
  });
});
