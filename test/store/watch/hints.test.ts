import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lockOn } from '../../../store/base/locks.ts';
import { allItems, itemOf } from '../../../store/reconcile/items.ts';
import { WATCH_PACE } from '../../../store/watch/change-scheduler.ts';
import { collectHints } from '../../../store/watch/hints.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';
import { caseText, dirOf, idOf } from '../../helpers/many-items.ts';
import { gitIn } from '../../helpers/repository.ts';
import { openWorkspace } from '../../helpers/workspace.ts';

const QUICK = { settle_ms: 1, git_ms: 20, long_git_ms: 20, burst: 1e9, after_burst_ms: 1 };

describe('collectHints', () => {
  it('holds a path back no longer than it may, though git never ends and the path never rests', async (t) => {
    const settled: string[] = [];
    const hints = collectHints(QUICK, {
      patience: () => QUICK.git_ms,
      settled: (dirs) => settled.push(...dirs),
      overflowed: () => assert.fail('no burst'),
    });
    atEnd(t, hints.close);
    while (settled.length < 3) {
      hints.hint('cases/a');
      await nextTurn();
    }
    assert.deepEqual(settled, ['cases/a', 'cases/a', 'cases/a']);
  });

  it('hands over all there is as soon as git is done', async (t) => {
    let busy = true;
    const settled: string[][] = [];
    const hints = collectHints(QUICK, {
      patience: () => (busy ? 60_000 : 0),
      settled: (dirs) => settled.push(dirs),
      overflowed: () => undefined,
    });
    atEnd(t, hints.close);
    for (const path of ['a', 'b', 'a', 'c']) {
      hints.hint(path);
      for (let turn = 0; turn < 1000; turn += 1) await nextTurn();
    }
    assert.deepEqual(settled, []);
    busy = false;
    while (settled.length === 0) await nextTurn();
    assert.deepEqual(settled, [['a', 'b', 'c']]);
  });
});

describe('regular sweeps', () => {
  it('stop while nothing happens, and go on once something has', async (t) => {
    const open = await openWorkspace(t);
    const { store } = open;
    t.mock.timers.enable({ apis: ['setInterval'] });
    let sweeps = 0;
    const count = (): void => {
      sweeps += 1;
    };
    const pace = { ...WATCH_PACE, sweep_ms: 0 };
    const attention = open.watch(count, pace);
    await attention.ready;
    const tick = (): void => t.mock.timers.tick(1000);
    const sweepsAgain = async (): Promise<void> => {
      const before = sweeps;
      tick();
      await eventually(() => assert.ok(sweeps > before));
    };
    const untilQuiet = (): Promise<void> =>
      eventually(async () => {
        const before = sweeps;
        tick();
        for (let turn = 0; turn < 2000; turn += 1) await nextTurn();
        assert.equal(sweeps, before);
      });
    await untilQuiet();
    store.report(new Error('no space left'), 'writing the journal');
    await sweepsAgain();
    await untilQuiet();
    await store.locks.take(lockOn.item(idOf(1)), async () => undefined);
    await sweepsAgain();
    await untilQuiet();
    await attention.close();

    const other = open.watch(count, { ...pace, quiet_sweep_ms: 0 });
    await other.ready;
    await sweepsAgain();
    await sweepsAgain();
    await other.close();
  });
});

describe('sweepNow', () => {
  it('waits for git to give its index back, but not for good', async (t) => {
    const open = await openWorkspace(t);
    const { root, store } = open;
    gitIn(root)('init', '--quiet');
    const attention = open.watch(() => undefined, { ...WATCH_PACE, git_ms: 60_000 });
    await attention.ready;
    const lock = join(root, '.git/index.lock');
    writeFileSync(lock, '');
    mkdirSync(join(root, dirOf(1)), { recursive: true });
    writeFileSync(join(root, dirOf(1), 'case.md'), caseText(1));
    const sweeping = attention.sweepNow();
    for (let turn = 0; turn < 5000; turn += 1) await nextTurn();
    assert.equal(allItems(store).length, 0);
    rmSync(lock);
    await sweeping;
    assert.ok(itemOf(store, idOf(1)) !== undefined);
    await attention.close();
    const impatient = open.watch(() => undefined, { ...WATCH_PACE, git_ms: 20 });
    writeFileSync(lock, '');
    await impatient.sweepNow();
    assert.ok(existsSync(lock));
  });
});
