import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coalesceReads, createSlots } from '../../../store/base/async.ts';

const reader = () => {
  const ends: ((value: string) => void)[] = [];
  const fails: ((error: Error) => void)[] = [];
  const read = coalesceReads(
    () =>
      new Promise<string>((resolve, reject) => {
        ends.push(resolve);
        fails.push(reject);
      }),
  );
  return { read, ends, fails };
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('coalesceReads', () => {
  it('reads once for all who ask before it begins', async () => {
    const { read, ends } = reader();
    const asked = [read(), read(), read()];
    await turn();
    assert.equal(ends.length, 1);
    ends[0]?.('one');
    assert.deepEqual(await Promise.all(asked), ['one', 'one', 'one']);
  });

  it('gives nobody what was read before they asked, and those who waited one more reading', async () => {
    const { read, ends } = reader();
    const first = read();
    await turn();
    const later = [read(), read()];
    await turn();
    assert.equal(ends.length, 1);
    ends[0]?.('old');
    assert.equal(await first, 'old');
    await turn();
    assert.equal(ends.length, 2);
    ends[1]?.('new');
    assert.deepEqual(await Promise.all(later), ['new', 'new']);
  });

  it('reads again after one that failed', async () => {
    const { read, ends, fails } = reader();
    const first = read();
    await turn();
    const second = read();
    fails[0]?.(new Error('gone'));
    await assert.rejects(first, /gone/);
    await turn();
    ends[1]?.('there');
    assert.equal(await second, 'there');
  });
});

describe('createSlots', () => {
  it('runs no more at once than there are slots, in the order they came', async () => {
    const slots = createSlots(2);
    const began: number[] = [];
    const ends: (() => void)[] = [];
    const work = (number: number) => () => {
      began.push(number);
      return new Promise<void>((resolve) => ends.push(resolve));
    };

    const all = [1, 2, 3, 4].map((number) => slots(work(number)));
    await Promise.resolve();
    assert.deepEqual(began, [1, 2]);
    ends.shift()?.();
    await all[0];
    await Promise.resolve();
    assert.deepEqual(began, [1, 2, 3]);

    ends.shift()?.();
    await all[1];
    for (const end of ends) end();
    await all[2];
    ends.at(-1)?.();
    await all[3];
    assert.deepEqual(began, [1, 2, 3, 4]);
  });

  it('frees the slot of what fails', async () => {
    const slots = createSlots(1);

    await assert.rejects(slots(() => Promise.reject(new Error('no'))));

    assert.equal(await slots(async () => 'yes'), 'yes');
  });
});
