import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { listDeliveries } from '../../../../lib/events/webhooks/deliveries.ts';
import { pageOf } from '../../../../lib/http/pagination.ts';
import type { Delivery } from '../../../../store/records/delivery.ts';
import { until } from '../../../helpers/eventually.ts';
import { type Life, live } from './life.ts';

const DEAD = 'http://127.0.0.1:9/';

/** How many bytes this process has read, the journal's among them. */
const bytesRead = (): number =>
  Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0);

const pageAfter = async (life: Life, id: string, after?: string): Promise<Delivery[]> => {
  const wish = { ...(after && { after }) };
  const all = await listDeliveries(life, undefined, id, wish);
  const { body } = await pageOf(all, { limit: 50, ...wish }, '/x');
  return JSON.parse(String(body)) as Delivery[];
};

// Two pieces of the journal, and the log of attempts.
const MOST_READ = 700_000;

describe('a long backlog', () => {
  it('is paged through at the cost of each page, wherever the page is', async (t) => {
    const life = await live(t, { schedule: [3_600_000] });
    const id = await life.register(DEAD);
    const items = Array.from({ length: 180 }, () => randomUUID());
    const types = Array.from({ length: 40 }, () => 'case_updated' as const);
    for (const item of items) await life.happen(types, item);
    await until(async () => (await pageAfter(life, id))[0]?.status === 'retrying');
    const seen: string[] = [];
    for (let after: string | undefined, before = bytesRead(); ; before = bytesRead()) {
      const page = await pageAfter(life, id, after);
      seen.push(...page.map(({ body }) => String(body.payload.case_id)));
      const read = bytesRead() - before;
      assert.ok(read < MOST_READ, `${read} bytes were read for ${seen.length}`);
      if (page.length < 50) break;
      after = page.at(-1)?.id;
    }
    assert.deepEqual(
      seen,
      items.flatMap((item) => types.map(() => item)),
    );
  });

  it('goes on where it was also when the daemon was started again, or the page begins among the attempts', async (t) => {
    const life = await live(t, { schedule: [3_600_000] });
    const id = await life.register(DEAD);
    for (let n = 0; n < 5; n += 1) await life.happen(Array(50).fill('case_updated'));
    await until(async () => (await pageAfter(life, id))[0]?.status === 'retrying');
    const [first, second] = await pageAfter(life, id);
    assert.equal((await pageAfter(life, id, first?.id))[0]?.id, second?.id);
    const next = await pageAfter(life, id, second?.id);
    await life.end();
    await life.begin();
    assert.deepEqual(await pageAfter(life, id, second?.id), next);
    await assert.rejects(pageAfter(life, id, randomUUID()), /There is no/);
  });
});
