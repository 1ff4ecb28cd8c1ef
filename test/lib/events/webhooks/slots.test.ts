import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSlots } from '../../../../lib/events/webhooks/slots.ts';

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
