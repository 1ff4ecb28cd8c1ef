import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../../helpers/eventually.ts';
import type { Rule } from '../../helpers/scripted-model.ts';
import { NOTE, planning, type Tried } from './checks.ts';
import { startSession } from './session.ts';

const SECOND = '# Second plan\n\nOnly note it in NOTES.md.';
const ASKED = 'Only the note, please (revised).';

/** A plan that is sent back is planned again with the request, and the second one is done. */
export const revises = async (t: TestContext, tried: Tried): Promise<string> => {
  const rules: Rule[] = [
    { when: 'The operator has approved', steps: [[NOTE], [{ text: 'Noted.' }]] },
    { when: '(revised)', steps: [[{ read: 'math.ts' }], [{ text: SECOND }]] },
    planning,
  ];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules });
  await session.until('plan_ready');
  await session.post('revise', { comment: ASKED });
  await eventually(async () => {
    await session.until('plan_ready');
    assert.equal(readFileSync(join(session.dir, 'plan.md'), 'utf8').trim(), SECOND);
  });
  await session.post('approve');
  await session.until('completed');
  assert.deepEqual(session.diff(), ['+It adds now.']);
  const asked = session.model.requests.find(({ prompt }) => prompt.includes(ASKED));
  const work = session.model.requests.find(({ prompt }) => prompt.includes('has approved'));
  assert.ok(work?.prompt.includes(SECOND));
  const isContinued = asked?.earlier.some((text) => text.includes('You are in Plan mode'));
  return isContinued ? 'yes, one conversation' : 'yes, anew with its plan';
};
