import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { meet } from '../../../store/reconcile/discover.ts';
import { allItems, itemOf, itemsOf } from '../../../store/reconcile/items.ts';
import { resolveMissing } from '../../../store/reconcile/missing.ts';
import { reconcile } from '../../../store/reconcile/reconcile.ts';
import { sweepWorkspace } from '../../../store/reconcile/sweep.ts';
import { compareHint } from '../../../store/watch/change-scheduler.ts';
import { dirOf, idOf, writeItems } from '../../helpers/many-items.ts';
import { bound } from '../../helpers/tiny-disk.ts';
import { openWorkspace } from '../../helpers/workspace.ts';

describe('resolveMissing', () => {
  it('finds a Work item where another one was, though nobody hinted at that place', async (t) => {
    const { store, root } = await openWorkspace(t);
    writeItems(root, 3);
    await sweepWorkspace(store);
    rmSync(join(root, dirOf(1)), { recursive: true });
    renameSync(join(root, dirOf(0)), join(root, dirOf(1)));
    await reconcile(store, idOf(0));
    assert.deepEqual([...itemsOf(store).missing], [idOf(0)]);
    await resolveMissing(store);
    assert.equal(itemOf(store, idOf(0))?.dir, dirOf(1));
    await resolveMissing(store);
    assert.deepEqual(
      allItems(store)
        .map(({ id }) => id)
        .toSorted(),
      [idOf(0), idOf(2)],
    );
    assert.deepEqual([...store.journal.seen.keys()].toSorted(), [idOf(0), idOf(2)]);
  });
});

describe('compareHint', () => {
  it('finds what is gone from a hinted folder, or is a link now, though its own hint came too early', async (t) => {
    const { store, root } = await openWorkspace(t);
    writeItems(root, 3);
    await sweepWorkspace(store);
    rmSync(join(root, dirOf(0)), { recursive: true });
    renameSync(join(root, dirOf(1)), join(root, 'away'));
    symlinkSync(join(root, 'away'), join(root, dirOf(1)));
    await compareHint(store, 'cases');
    assert.deepEqual([...itemsOf(store).missing].toSorted(), [idOf(0), idOf(1)]);
  });
});

describe('meet', () => {
  it('takes a copy in other letter case for another directory, where both names are listed', async (t) => {
    const { store, root } = await openWorkspace(t);
    writeItems(root, 1);
    await sweepWorkspace(store);
    const copy = join(dirname(dirOf(0)), basename(dirOf(0)).toUpperCase());
    cpSync(join(root, dirOf(0)), join(root, copy), { recursive: true });
    await meet(store, copy);
    assert.equal(itemOf(store, idOf(0))?.dir, dirOf(0));
    assert.deepEqual(
      store.problems.all().map(({ code }) => code),
      ['duplicate_id'],
    );
  });

  it('finds a directory moved whose former name still leads to it, as where case is ignored', async (t) => {
    const { store, root } = await openWorkspace(t);
    writeItems(root, 1);
    await sweepWorkspace(store);
    const [before, now] = [dirOf(0), join(dirname(dirOf(0)), basename(dirOf(0)).toUpperCase())];
    renameSync(join(root, before), join(root, now));
    mkdirSync(join(root, before));
    if (!bound(t, join(root, now), join(root, before))) return;
    await meet(store, now);
    assert.deepEqual([itemOf(store, idOf(0))?.dir, store.problems.all()], [now, []]);
  });
});
