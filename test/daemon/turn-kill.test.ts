/** A real process, killed while a Work turn gets its repository, works in it, and is taken in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skipOf } from '../helpers/git-scene.ts';
import { canTrace, killedAt } from '../helpers/strace.ts';
import { killTurn } from '../helpers/turn-kill.ts';

type Point = [call: string, nth: readonly number[]];

// Of the names that it gives, and of the beginnings of programs, its own git among them. All of them: npm run soak:kill
const POINTS: Record<'auto' | 'off', Point[]> = {
  off: [
    ['rename', [3, 5, 8, 10, 12]],
    ['link', [3]],
  ],
  auto: [['clone', [8, 12, 18, 24]]],
};

for (const sandbox of ['auto', 'off'] as const)
  describe(`a daemon that is killed in a Work turn (sandbox: ${sandbox})`, {
    skip: skipOf(sandbox),
    concurrency: 2,
  }, () => {
    for (const [call, points] of POINTS[sandbox])
      for (const nth of points)
        it(`at ${call} ${nth}: nothing of the operator's is changed, nothing of the work is lost`, async (t) => {
          if (!canTrace(t)) return;
          assert.ok(await killTurn(t, sandbox, killedAt(call, nth)), 'it was killed');
        });
  });
