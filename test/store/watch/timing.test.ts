import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createInterval } from '../../../store/watch/hints.ts';
import { atEnd } from '../../helpers/at-end.ts';

const HOUR_MS = 3_600_000;

/** A job due in an hour, on a wall clock and a timer that the test moves; the monotonic clock goes on by itself. */
const hourly = (t: TestContext) => {
  const { now } = Date;
  let ahead = 0;
  t.mock.method(Date, 'now', () => now() + ahead);
  t.mock.timers.enable({ apis: ['setInterval'] });
  let count = 0;
  const regular = createInterval(
    () => HOUR_MS,
    () => {
      count += 1;
    },
  );
  atEnd(t, regular.stop);
  return {
    count: () => count,
    tick: () => t.mock.timers.tick(1000),
    jump: (ms: number) => {
      ahead += ms;
    },
  };
};

describe('createInterval', () => {
  it('waits for its time', (t) => {
    const { count, tick } = hourly(t);
    for (let second = 0; second < 10; second += 1) tick();
    assert.equal(count(), 0);
  });

  for (const [what, by] of [
    ['slept for an hour', HOUR_MS],
    ['had its clock set back', -HOUR_MS],
  ] as const)
    it(`does the job at once, and once, when the machine ${what}`, (t) => {
      const { count, tick, jump } = hourly(t);
      tick();
      jump(by);
      tick();
      tick();
      assert.equal(count(), 1);
    });
});
