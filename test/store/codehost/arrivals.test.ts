import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkWorkspace } from '../../../store/check/check.ts';
import {
  type DeliveryArrival,
  hasArrived,
  recordArrival,
} from '../../../store/codehost/arrivals.ts';
import type { Store } from '../../../store/store.ts';
import { setIncomingSecret } from '../../../store/webhooks/secrets.ts';
import { startForTest } from '../../helpers/service.ts';

const arrival = (over: Partial<DeliveryArrival> = {}): DeliveryArrival => ({
  ...{ id: 'one', event: 'issues', sha256: 'a'.repeat(64) },
  ...over,
});

const at = (store: Store, time: string): Store => ({
  ...store,
  clock: () => new Date(time),
});

describe('recordArrival', () => {
  it('is remembered by its id, and by event and body under another id, through a restart', async (t) => {
    const running = await startForTest(t);
    await recordArrival(running.service.store, arrival());
    await running.restart();
    const { store } = running.service;
    assert.ok(hasArrived(store, arrival()));
    assert.ok(hasArrived(store, arrival({ sha256: 'b'.repeat(64) })));
    assert.ok(hasArrived(store, arrival({ id: 'two' })));
    assert.ok(!hasArrived(store, arrival({ id: 'two', event: 'push' })));
    assert.ok(!hasArrived(store, arrival({ id: 'two', sha256: 'b'.repeat(64) })));
  });

  it('takes the place of a line that a crash tore, and loses no other', async (t) => {
    const running = await startForTest(t);
    const { store } = running.service;
    await recordArrival(store, arrival());
    const [name = ''] = readdirSync(store.layout.arrivals);
    const path = join(store.layout.arrivals, name);
    appendFileSync(path, '{"at":"2026-01-01T00:00:00.000Z","id":"to');
    await recordArrival(store, arrival({ id: 'two', event: 'push' }));
    assert.equal(readFileSync(path, 'utf8').split('\n').length, 3);
    const again = at(store, new Date().toISOString());
    assert.deepEqual(
      ['one', 'two', 'to'].map((id) => hasArrived(again, arrival({ id, event: 'x' }))),
      [true, true, false],
    );
  });

  it('is forgotten after a month, and its file with it', async (t) => {
    const { store } = (await startForTest(t)).service;
    await recordArrival(at(store, '2026-01-01T00:00:00Z'), arrival());
    writeFileSync(join(store.layout.arrivals, 'mine.txt'), 'kept');
    assert.ok(hasArrived(at(store, '2026-01-31T23:00:00Z'), arrival()));
    const later = at(store, '2026-02-02T00:00:00Z');
    assert.ok(!hasArrived(later, arrival()));
    await recordArrival(later, arrival());
    assert.deepEqual(readdirSync(store.layout.arrivals).toSorted(), [
      '2026-02-02.ndjson',
      'mine.txt',
    ]);
  });

  it('goes on when somebody takes the folder away, and check has nothing against it', async (t) => {
    const { store } = (await startForTest(t)).service;
    await recordArrival(store, arrival());
    rmSync(store.layout.arrivals, { recursive: true });
    assert.ok(hasArrived(store, arrival()));
    await recordArrival(store, arrival({ id: 'two', event: 'push' }));
    await setIncomingSecret(store, 'sehr geheim');
    assert.deepEqual((await checkWorkspace(store.layout, async () => [])).findings, []);
  });
});
