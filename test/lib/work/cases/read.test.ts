import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createListCache } from '../../../../lib/http/pagination.ts';
import { listCases } from '../../../../lib/work/cases/read.ts';
import { versionOf } from '../../../../store/reconcile/items.ts';
import type { Store } from '../../../../store/store.ts';
import { startForTest } from '../../../helpers/service.ts';

const REQUEST = { path: '/cases', query: {} };

/** Lists as the route does, and counts what is made: answers, and the JSON of Work items that was not there before. */
const counting = (store: Store) => {
  const [lists, seen] = [createListCache<unknown>(), new Set<Buffer>()];
  const made = { lists: 0, items: 0 };
  const counted = (json: Buffer): Buffer => {
    if (!seen.has(json)) made.items += 1;
    seen.add(json);
    return json;
  };
  const list = () =>
    lists(versionOf(store), REQUEST, () => {
      made.lists += 1;
      const { all, jsonOf } = listCases(store, {});
      return { all, jsonOf: (one) => counted(jsonOf(one)) };
    });
  return { made, list };
};

const several = async (t: TestContext) => {
  const running = await startForTest(t);
  const ids: string[] = [];
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    const { body } = await running.call<{ id: string }>('POST', '/cases', { title, type: 'chore' });
    ids.push(body.id);
  }
  return { ...running, ids };
};

describe('a list of Work items', () => {
  it('is answered as the bytes that it was while nothing changes', async (t) => {
    const { service, call, ids } = await several(t);
    const { made, list } = counting(service.store);
    const first = list();
    await call('GET', '/cases');
    await call('GET', `/cases/${ids[0]}`);
    assert.equal(list(), first);
    assert.deepEqual(made, { lists: 1, items: 4 });
  });

  it('makes anew what changed alone', async (t) => {
    const { service, call, ids } = await several(t);
    const { made, list } = counting(service.store);
    const first = list();
    await call('PUT', `/cases/${ids[1]}`, { title: 'Another' });
    assert.notEqual(list(), first);
    assert.deepEqual(made, { lists: 2, items: 5 });
  });
});
