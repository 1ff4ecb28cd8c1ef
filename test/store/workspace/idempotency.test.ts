import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import {
  createIdempotencyStore,
  type IdempotencyStore,
} from '../../../store/workspace/idempotency.ts';
import { startForTest } from '../../helpers/service.ts';

const make = (answers: IdempotencyStore, key: string, body = 'x') =>
  answers.once({ key, said: 'said', make: async () => ({ status: 201, headers: {}, body }) });

const withStore = async (t: TestContext) => {
  const { service } = await startForTest(t);
  return service.store;
};

describe('createIdempotencyStore', () => {
  it('keeps no more than there is room for: the oldest go first', async (t) => {
    const store = await withStore(t);
    const answers = createIdempotencyStore(store, { files: 3, bytes: 100_000 });
    for (const key of ['a', 'b', 'c', 'd']) await make(answers, key);
    assert.equal(readdirSync(store.layout.answers).length, 3);
    const isFirst = async (key: string) => {
      const once = await make(answers, key);
      return typeof once === 'object' && once.isFirst;
    };
    assert.deepEqual(
      [await isFirst('d'), await isFirst('b'), await isFirst('a')],
      [false, false, true],
    );
    await make(answers, 'large', 'x'.repeat(200_000));
    await make(answers, 'next');
    assert.equal(readdirSync(store.layout.answers).length, 1);
  });

  it('forgets a call that failed, and one whose file is damaged', async (t) => {
    const store = await withStore(t);
    const answers = createIdempotencyStore(store);
    const failing = { key: 'k', said: 'said', make: () => Promise.reject(new Error('no')) };
    await assert.rejects(answers.once(failing), /no/);
    assert.deepEqual(readdirSync(store.layout.answers), []);
    const once = await make(answers, 'k');
    assert.ok(typeof once === 'object' && once.isFirst);
  });
});
