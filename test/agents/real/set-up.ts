import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { planning, type Tried } from './checks.ts';
import { startSession } from './session.ts';
import { HIDDEN, MARKS, type Part, UNREAD } from './set-ups.ts';

/**
 * What the operator set up for the agent reaches its model in Plan mode, or is offered as a command. A server whose program is
 * hidden is told before the plan.
 */
export const setUpReaches = async (t: TestContext, tried: Tried): Promise<string> => {
  // Some tell their commands, and have their servers, a little later.
  const [read = [], plan = []] = planning.steps;
  const rules = [{ ...planning, steps: [read, read, read, plan] }];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules, setUp: true });
  await session.until('plan_ready');
  const events = await session.events();
  const offered = events.flatMap(({ event, data }) => (event === 'agent_state' ? [data] : []));
  const seen = [...session.model.bodies, JSON.stringify(offered)].join('\n');

  assert.ok(!seen.includes(HIDDEN.mark));
  const names = events.map(({ event }) => event);
  const limit = events.find(
    ({ event, data }) => event === 'sandbox_limit' && `${data.message}`.includes(HIDDEN.program),
  );
  assert.ok(limit, 'It is not told of the hidden server');
  assert.match(`${limit.data.message}`, /sandbox_readable/);
  assert.ok(events.indexOf(limit) < names.indexOf('plan_ready'));

  const missed = Object.keys(MARKS).filter((part) => !seen.includes(MARKS[part as Part]));
  const unread = unreadBy(tried);
  assert.deepEqual(
    missed.filter((part) => !unread.includes(part as Part)),
    [],
  );
  return missed.length === 0 ? 'all' : `all but ${missed.join(', ')}`;
};

// A process for one prompt has nobody to offer commands to.
const unreadBy = ({ agent, kind }: Tried): Part[] => [
  ...(UNREAD[agent]?.[kind] ?? []),
  ...(kind === 'command' ? ['its command' as const] : []),
];
