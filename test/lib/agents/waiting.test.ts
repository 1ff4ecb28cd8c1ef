import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { RunEvent } from '../../../lib/agents/provider.ts';
import { watchQuiet } from '../../../lib/agents/waiting.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { until } from '../../helpers/eventually.ts';

const DAY_MS = 86_400_000;

describe('watchQuiet', () => {
  for (const [name, quiet_ms, days] of [
    ['reports silence while the clock is set back', 40, -40],
    ['reports none when the clock is set forward', 60_000, 40],
  ] as const)
    it(name, async (t) => {
      const told: RunEvent[] = [];
      const tell = (event: RunEvent): void => void told.push(event);
      const watch = watchQuiet({ quiet_ms, tell, stderr: () => '', busy: () => false });
      atEnd(t, watch.end);
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + days * DAY_MS });
      if (days < 0) return until(() => told.length > 0);
      await setTimeout(100);
      assert.deepEqual(told, []);
    });
});
