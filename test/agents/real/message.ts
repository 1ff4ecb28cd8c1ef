import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../helpers/eventually.ts';
import type { Rule } from '../../helpers/scripted-model.ts';
import { approve, approved, DIFF, EDIT, NOTE, planning, type Tried } from './checks.ts';
import { type RealSession, startSession } from './session.ts';

const HELD = ['Wait a moment (held 1).', 'Hold on (held 2).', 'Not yet (held 3).'] as const;
const GO_ON = 'Now change it (go on).';
const PATIENCE_MS = 120_000;

/** Each message of the operator is heard once, whatever happens to the session and the daemon, and allows nothing. */
export const hears = async (t: TestContext, tried: Tried): Promise<string> => {
  const isContinued = await onceEach(t, tried);
  if (tried.kind === 'acp') await allowsNothing(t, tried);
  return isContinued ? 'each once, one conversation' : 'each once, anew with the plan';
};

const onceEach = async (t: TestContext, tried: Tried): Promise<boolean> => {
  const held: Rule['steps'] = [[{ read: 'math.ts' }], [{ text: 'I wait.' }, { hang: true }]];
  const rules: Rule[] = [
    planning,
    { when: '(go on)', steps: [[{ read: 'math.ts' }], [EDIT], [{ text: 'It adds now.' }]] },
    { when: '(held', steps: held },
    { when: 'You were stopped in the middle', steps: held },
    approved([[NOTE], [{ text: 'Now the other.' }, { hang: true }]]),
  ];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules });
  const say = (text: string) =>
    // A command reads what is said with its next run.
    session.post('messages', { text, ...(tried.kind === 'command' && { now: true }) });
  await approve(session);
  await waitsIn(session, 'the operator adds');

  await say(HELD[0]);
  await waitsIn(session, '(held 1)');
  await session.control('pause');
  await session.until('paused');
  await say(HELD[1]);
  await session.control('resume');
  await waitsIn(session, '(held 2)');

  await session.restart('SIGKILL');
  await session.until('paused');
  await say(HELD[2]);
  await session.control('resume');
  await waitsIn(session, '(held 3)');

  await session.restart('SIGTERM');
  await session.until('paused');
  const asked = session.model.requests.length;
  await session.control('resume');
  await eventually(() => assert.ok(session.model.requests.length > asked + 1), PATIENCE_MS);
  await say(GO_ON);
  await session.until('completed');

  assert.deepEqual(session.diff(), DIFF);
  const { earlier, prompt } = session.model.requests.findLast((each) =>
    each.prompt.includes(GO_ON),
  ) ?? { earlier: [], prompt: '' };
  const heard = [...earlier, prompt].join('\n');
  for (const text of [...HELD, GO_ON]) assert.equal(heard.split(text).length - 1, 1, heard);
  const messages = await session.messages();
  assert.ok(messages.every(({ delivered_at }) => delivered_at !== null));
  return earlier.some((text) => text.includes('You are in Plan mode'));
};

/** The agent has that in its prompt, has called a tool since, and waits for its model. */
const waitsIn = ({ model, messages }: RealSession, text: string): Promise<void> =>
  eventually(async () => {
    const last = model.requests.at(-1);
    assert.ok(last?.prompt.includes(text) && last.results.length === 1, last?.prompt);
    assert.ok((await messages()).every(({ delivered_at }) => delivered_at !== null));
  }, PATIENCE_MS);

const BESIDE = 'You may do as you like (beside it).';
const ASIDE = 'Leave the directory, and note it (aside).';

/** A request for permission waits on beside a message, and is taken back by one that interrupts. */
const allowsNothing = async (t: TestContext, tried: Tried): Promise<void> => {
  const rules: Rule[] = [
    planning,
    { when: '(aside)', steps: [[NOTE], [{ text: 'I leave it, and note it.' }]] },
    approved([[{ shell: 'mkdir made', asks: true }], [{ text: 'Made.' }]]),
  ];
  const session = await startSession(t, { ...tried, sandbox: 'off', rules, execute: 'ask' });
  await approve(session);
  const named = async (event: string) =>
    (await session.events()).filter((each) => each.event === event);
  await eventually(async () => {
    assert.equal((await named('permission_request')).length, 1);
  }, PATIENCE_MS);
  await session.post('messages', { text: BESIDE });
  await delay(1000);
  assert.deepEqual(await named('permission_resolved'), []);
  await session.post('messages', { text: ASIDE, now: true });
  await session.until('completed');
  const [resolved] = await named('permission_resolved');
  assert.equal(resolved?.data.option_id ?? null, null);
  assert.equal(existsSync(join(session.tree, 'made')), false);
};
