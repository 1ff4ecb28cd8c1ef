import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSlots, nextAttemptAt, RETRIES } from '../../../../lib/events/webhooks/attempt.ts';

const now = new Date('2026-01-31T12:00:00.000Z');
const seconds = (attempt: number, random: number): number =>
  ((nextAttemptAt(RETRIES, attempt, now, random)?.getTime() ?? Number.NaN) - now.getTime()) / 1000;

describe('nextAttemptAt', () => {
  it('waits longer each time, from a second to a day', () => {
    const waits = RETRIES.map((_, index) => seconds(index + 1, 0.5));

    assert.deepEqual(waits, [1, 5, 30, 120, 600, 3600, 21_600, 86_400]);
  });

  it('comes a tenth earlier or later', () => {
    assert.deepEqual([seconds(3, 0), seconds(3, 1)], [27, 33]);
  });

  it('gives up after the last', () => {
    assert.equal(nextAttemptAt(RETRIES, RETRIES.length + 1, now), undefined);
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
