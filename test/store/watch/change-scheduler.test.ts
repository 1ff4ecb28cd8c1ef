import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { allItems } from '../../../store/reconcile/items.ts';
import { refreshWebhooks } from '../../../store/settings/globals.ts';
import { watchRequestsOf } from '../../../store/store.ts';
import { WATCH_PACE } from '../../../store/watch/change-scheduler.ts';
import { doorTo } from '../../crash/door.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';
import { caseText, dirOf, idOf } from '../../helpers/many-items.ts';
import { writeFiles } from '../../helpers/repository.ts';
import { openWorkspace } from '../../helpers/workspace.ts';

describe('startWatching', () => {
  it('outlives a first comparison that cannot list a folder, and makes the next one', async (t) => {
    const { root, store, watch } = await openWorkspace(t);
    const door = await doorTo(root);
    writeFiles(root, { [join(dirOf(1), 'case.md')]: caseText(1) });
    const fail = (): void => door.arm({ kind: 'list', errno: 'EMFILE', nth: 1, stays: true });
    fail();
    atEnd(t, () => void door.disarm());
    const attention = watch(() => undefined);
    await eventually(() => {
      const { failed } = door.disarm();
      if (failed.length === 0) fail();
      assert.ok(failed.length > 0);
    });
    // Nobody has waited for it so far, as in the daemon.
    await nextTurn();
    await attention.sweepNow();
    assert.deepEqual(
      allItems(store).map(({ id }) => id),
      [idOf(1)],
    );
    await assert.rejects(attention.ready, { code: 'EMFILE' });
  });

  it('drops the problem of a removed receiver without a sweep', async (t) => {
    const { root, store, watch } = await openWorkspace(t);
    writeFiles(root, { 'webhooks/ci.md': '---\nuri: https://ci.example.org/\n---\n' });
    const never = { sweep_ms: 2 ** 30, quiet_sweep_ms: 2 ** 30, blind_sweep_ms: 2 ** 30 };
    const attention = watch(() => undefined, { ...WATCH_PACE, ...never });
    await attention.ready;
    await eventually(() => assert.equal(store.problems.all()[0]?.file, 'webhooks/ci.md'));
    rmSync(join(root, 'webhooks/ci.md'));
    await eventually(() => assert.deepEqual(store.problems.all(), []));
  });

  it('does not read receivers again and again whose folder cannot be read', async (t) => {
    const { root, store } = await openWorkspace(t);
    writeFiles(root, { 'webhooks/ci.md': '---\nurl: https://ci.example.org/\n---\n' });
    let asked = 0;
    watchRequestsOf(store).scheduleReread = () => {
      asked += 1;
    };
    await refreshWebhooks(store);
    rmSync(join(root, 'webhooks/ci.md'));
    await refreshWebhooks(store);
    assert.equal(asked, 1);
    rmSync(join(root, 'webhooks'), { recursive: true });
    writeFiles(root, { webhooks: 'a file' });
    await refreshWebhooks(store);
    assert.equal(store.problems.all()[0]?.file, 'webhooks');
    assert.equal(asked, 1);
  });
});
