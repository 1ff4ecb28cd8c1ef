import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { realAgents } from './agents.ts';
import { approve, approved, planning, type Tried } from './checks.ts';
import { startSession } from './session.ts';

/** The model that is chosen is the one that is asked, with its effort, in Plan mode and in Work mode. */
export const chooses = async (t: TestContext, tried: Tried): Promise<string> => {
  const rules = [
    planning,
    approved([[{ write: 'NOTES.md', content: 'Noted.\n' }], [{ text: 'Noted.' }]]),
  ];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules, chosen: true });
  await approve(session);
  await session.until('completed');
  const wanted = realAgents('').find(({ id }) => id === tried.agent)?.choice[tried.kind];
  const asked = session.model.requests.filter(({ tools }) => tools.length > 0);
  assert.ok(asked.some(({ prompt }) => prompt.includes('the operator adds')));
  const seen = new Set(asked.map(({ model, effort }) => [model, effort].filter(Boolean).join(' ')));
  const missed =
    wanted?.effort === undefined ? [...seen].map((one) => one.split(' ')[0]) : [...seen];
  assert.deepEqual([...new Set(missed)], [wanted?.seen]);
  return wanted?.effort === undefined ? 'model' : 'both';
};
