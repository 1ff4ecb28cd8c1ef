import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Session } from '../../../store/records/session.ts';
import type { Part } from '../../helpers/scripted-model.ts';
import { approve, approved, planning, type Tried } from './checks.ts';
import { type RealSession, startSession } from './session.ts';

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
    const end = await endOf(work, 'working');
    assert.notEqual(end, 'completed', `Work, ${name}`);
    ends.push(`${name}: ${end}`);
  }
  const plan = await startSession(t, {
    ...{ ...tried, sandbox: 'auto' },
    rules: [{ when: 'You are in Plan mode', steps: [[{ read: 'math.ts' }], [{ status: 429 }]] }],
  });
  const planned = await endOf(plan, 'planning');
  assert.notEqual(planned, 'plan_ready', 'The words of a model that failed became the plan');
  return ends.join(', ');
};

// Gemini CLI gives up after almost four minutes.
const PATIENCE_MS = 280_000;
const LOOK_MS = 500;

/** How the turn ended. An agent that asks its model on and on says so, and can be aborted. */
const endOf = async (real: RealSession, atWork: Session['status']): Promise<string> => {
  for (let left = PATIENCE_MS / LOOK_MS; left > 0; left -= 1) {
    const { status, pause_reason } = await real.session();
    if (status !== atWork) return pause_reason ?? status;
    await delay(LOOK_MS);
  }
  assert.equal((await real.session()).waiting?.for, 'model');
  await real.control('abort');
  assert.equal(await real.lives(), false);
  return 'asks on, and says so';
};
