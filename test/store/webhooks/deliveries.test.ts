import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Layout, layoutOf } from '../../../store/layout.ts';
import type { DeliveryLine } from '../../../store/records/delivery.ts';
import { appendDelivery, readDeliveries } from '../../../store/webhooks/deliveries.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const line = (seq: number, error: string | null = null): DeliveryLine => ({
  id: randomUUID(),
  ...{ seq, attempt: 1, at: '2026-03-04T05:06:07.089Z', status: null, error, duration_ms: 1 },
  ...{ outcome: 'failed', next_at: null },
  body: {
    event_type: 'case_updated',
    timestamp: '2026-03-04T05:06:07.089Z',
    payload: { case_id: randomUUID() },
  },
});

const place = (t: TestContext): { layout: Layout; id: string; path: string } => {
  const layout = layoutOf(temporaryDirectory(t));
  for (const dir of [layout.deliveries, layout.tmp]) mkdirSync(dir, { recursive: true });
  const id = randomUUID();
  return { layout, id, path: join(layout.deliveries, `${id}.ndjson`) };
};

const seqsOf = (layout: Layout, id: string): number[] =>
  readDeliveries(layout, id).map(({ seq }) => seq);

const upTo = (last: number, from: number): number[] =>
  Array.from({ length: last - from }, (_, n) => from + n + 1);

describe('readDeliveries', () => {
  it('gives all of a short log, oldest first, and none of one that is not there', (t) => {
    const { layout, id } = place(t);
    assert.deepEqual(seqsOf(layout, id), []);
    for (const seq of [1, 2, 3]) appendDelivery(layout, id, line(seq));
    assert.deepEqual(seqsOf(layout, id), [1, 2, 3]);
  });

  for (const count of [999, 1000, 1001, 1700])
    it(`gives the newest thousand of ${count}`, (t) => {
      const { layout, id, path } = place(t);
      const lines = upTo(count, 0).map((seq) => `${JSON.stringify(line(seq))}\n`);
      writeFileSync(path, lines.join(''));
      assert.deepEqual(seqsOf(layout, id), upTo(count, Math.max(0, count - 1000)));
    });

  it('reads the end of a log that no string can hold', (t) => {
    const { layout, id, path } = place(t);
    writeFileSync(path, '');
    truncateSync(path, 600_000_000);
    appendFileSync(path, '\n');
    for (const seq of [1, 2, 3]) appendFileSync(path, `${JSON.stringify(line(seq))}\n`);
    assert.deepEqual(seqsOf(layout, id), [1, 2, 3]);
    // It is looked at each 256 KB.
    appendDelivery(layout, id, line(4, 'x'.repeat(262_144)));
    assert.deepEqual(seqsOf(layout, id), [1, 2, 3, 4]);
    assert.ok(statSync(path).size < 20_000_000, 'it is cut down');
  });

  it('leaves out a line that a crash tore', (t) => {
    const { layout, id, path } = place(t);
    for (const seq of [1, 2]) appendDelivery(layout, id, line(seq));
    appendFileSync(path, JSON.stringify(line(3)).slice(0, -20));
    assert.deepEqual(seqsOf(layout, id), [1, 2]);
  });
});

describe('appendDelivery', () => {
  it('writes a log anew when half of it is old, not with each attempt', (t) => {
    const { layout, id, path } = place(t);
    const long = 'x'.repeat(2000);
    const inodes = new Set<bigint>();
    for (const seq of upTo(3000, 0)) {
      appendDelivery(layout, id, line(seq, long));
      inodes.add(statSync(path, { bigint: true }).ino);
    }
    assert.ok(inodes.size <= 4, `${inodes.size} files`);
    assert.deepEqual(seqsOf(layout, id), upTo(3000, 2000));
    assert.ok(statSync(path).size < 3000 * 2000);
  });
});
