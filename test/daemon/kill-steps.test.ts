/** A real process, killed as it enters the most telling of its system calls, one after the other. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { killOnce, killStartOnce, type Step } from '../helpers/kill-points.ts';
import { START, STEPS } from '../helpers/steps.ts';
import { canTrace } from '../helpers/strace.ts';

// All of them, of all requests: npm run soak:kill
const TELLING: Record<string, string[]> = {
  'POST /cases': ['rename'],
  'POST /cases, with an Idempotency-Key': ['rename', 'fdatasync'],
  'POST /cases/:id/proof, with an Idempotency-Key': ['rename', 'link'],
  'PUT /cases/:id/state': ['rename', 'fdatasync'],
  'POST /cases/:id/proof': ['link'],
  'PUT /cases/:id/memory/:filename': ['rename'],
  'DELETE /cases/:id': ['rename'],
  'POST /webhooks': ['link'],
  'PUT /cases/:id/editor/files': ['link', 'rename'],
  'POST /cases/:id/editor/files': ['link', 'unlink'],
  'POST /cases/:id/sessions/:sid/approve': ['link'],
};

const killAtEach = async (t: TestContext, one: Step): Promise<void> => {
  for (const call of TELLING[one.name] ?? []) {
    let nth = 1;
    while (await killOnce(t, one, call, nth)) nth += 1;
    assert.ok(nth > 1, `${call} is one of its steps`);
  }
};

describe('a daemon that is killed while it starts', () => {
  it('leaves the next one all that there was to do, and nothing that lies around', async (t) => {
    if (!canTrace(t)) return;
    for (let nth = 1; await killStartOnce(t, START, 'link', nth); nth += 1);
  });
});

describe('a daemon that is killed at each step of a request', { concurrency: 2 }, () => {
  for (const one of STEPS.filter(({ name }) => name in TELLING))
    it(`${one.name}: all or nothing, nothing acknowledged is lost, each event told once`, async (t) => {
      if (canTrace(t)) await killAtEach(t, one);
    });
});
