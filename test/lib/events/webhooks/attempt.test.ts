import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextAttemptAt, RETRIES } from '../../../../lib/events/webhooks/attempt.ts';

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
