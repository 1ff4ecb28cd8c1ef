import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Part } from '../../helpers/scripted-model.ts';
import { approve, approved, planning, type Tried } from './checks.ts';
import { startSession } from './session.ts';

const NOTED: Part[][] = [[{ read: 'math.ts' }], [{ write: 'NOTES.md', content: 'Half.\n' }]];

/** How its model fails for good, after it has worked. */
const OUTAGES: Record<string, Part> = {
  429: { status: 429 },
  500: { status: 500 },
  'a drop': { drop: true },
};

/** A turn whose model failed and did not come back is no turn that is done, and what it says then is no plan. */
export const outage = async (t: TestContext, tried: Tried): Promise<string> => {
  const ends: string[] = [];
  for (const [name, part] of Object.entries(OUTAGES)) {
    const work = await startSession(t, {
      ...{ ...tried, sandbox: 'auto' },
      rules: [planning, approved([...NOTED, [part]])],
    });
    await approve(work);
    const worked = await work.until('paused', 'failed', 'completed');
    assert.notEqual(worked.status, 'completed', `Work, ${name}: ${worked.error}`);
    ends.push(`${name}: ${worked.pause_reason ?? worked.status}`);
  }
  const plan = await startSession(t, {
    ...{ ...tried, sandbox: 'auto' },
    rules: [{ when: 'You are in Plan mode', steps: [[{ read: 'math.ts' }], [{ status: 429 }]] }],
  });
  const planned = await plan.until('paused', 'failed', 'plan_ready');
  assert.notEqual(planned.status, 'plan_ready', 'The words of a model that failed became the plan');
  return ends.join(', ');
};
