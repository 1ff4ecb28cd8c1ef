import assert from 'node:assert/strict';
import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { processesOf } from '../../../lib/tools/process/process-tree.ts';
import { eventually } from '../../helpers/eventually.ts';
import type { Rule } from '../../helpers/scripted-model.ts';
import { approve, approved, planning, type Tried } from './checks.ts';
import { attachAt, type Screen } from './screen.ts';
import { type RealSession, startSession } from './session.ts';

const SAID = 'What is the magic word';
const MORE = 'Say it once more';
const answers: Rule[] = [SAID, MORE].map((when) => ({ when, steps: [[{ text: 'It is xyzzy.' }]] }));

/** What an interface shows once it can be typed into. */
const READY: Record<string, RegExp> = {
  claude: /shift\+tab to cycle|\? for shortcuts/,
  codex: /Ask Codex to do anything/,
  gemini: /Type your message/,
  opencode: /ctrl\+p commands/,
  qwen: /Type your message/,
};

/** Its own interface continues the conversation in the sandbox, and the session has what is said there. */
export const attaches = async (t: TestContext, tried: Tried): Promise<string> => {
  if (tried.kind === 'command') return '–';
  const rules: Rule[] = [
    ...answers,
    planning,
    { when: 'You were stopped in the middle', steps: [[{ text: 'Noted.' }]] },
    approved([
      [{ write: 'NOTES.md', content: 'Noted.\n' }],
      [{ text: 'Now more.' }, { hang: true }],
    ]),
  ];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules, terminal: true });
  await session.until('plan_ready');
  await quits(t, session, tried);
  await approve(session);
  await eventually(async () => {
    await session.until('working');
    assert.equal(session.status(), '?? NOTES.md\n');
    assert.equal(session.model.requests.at(-1)?.results.length, 1);
  });
  await session.control('pause');
  await session.until('paused');
  const isContinued = await loses(t, session, tried);
  // The terminal was closed by nobody who waits for the end of what ran there.
  await eventually(() => session.control('resume'));
  await session.until('completed');
  if (!isContinued) return 'in Plan mode; the agent drops a turn that was stopped';
  const resumed = session.model.requests.find(({ prompt }) => prompt.includes('You were stopped'));
  return [SAID, MORE].every((said) => resumed?.earlier.some((text) => text.includes(said)))
    ? 'yes, one conversation'
    : 'yes; work begins anew with the plan';
};

/** In Plan mode, the operator ends the interface. */
const quits = async (t: TestContext, session: RealSession, tried: Tried): Promise<void> => {
  const screen = await opened(t, session, tried);
  await says(session, screen, SAID);
  await assertContained(session);
  await screen.enter('/quit', () => assert.match(screen.text(), ENDED));
  await screen.shows(/1 message recorded/);
  assert.ok(screen.isRestored());
  await assertDetached(session, 'plan_ready', [['plan', SAID]]);
  assert.equal(session.status(), '');
};

/** In Work mode, the terminal is closed. False if the agent has lost the conversation, which changes nothing. */
const loses = async (t: TestContext, session: RealSession, tried: Tried): Promise<boolean> => {
  const screen = await opened(t, session, tried);
  if (ENDED.test(screen.text())) {
    assert.equal(tried.agent, 'gemini', screen.text());
    await assertDetached(session, 'paused', [['plan', SAID], []]);
    return false;
  }
  await says(session, screen, MORE);
  await assertContained(session);
  screen.close();
  await assertDetached(session, 'paused', [
    ['plan', SAID],
    ['work', MORE],
  ]);
  assert.match(readFileSync(join(session.dir, 'session.md'), 'utf8'), /^ {4}from: attach$/m);
  return true;
};

const ENDED = /^ended \d/m;

const opened = async (t: TestContext, session: RealSession, { agent }: Tried): Promise<Screen> => {
  const screen = attachAt(t, session);
  const ready = READY[agent] as RegExp;
  await screen.shows(new RegExp(`${ready.source}|${TRUST.source}|${ENDED.source}`, 'm'));
  if (TRUST.test(screen.text())) {
    screen.press('Enter');
    await screen.shows(ready);
  }
  return screen;
};

// Of the directory, which is the worktree: what is allowed there stays in the copy of its state.
const TRUST = /Yes, I trust this folder|Trust and continue/;

const says = async ({ model }: RealSession, screen: Screen, text: string): Promise<void> => {
  await screen.enter(text, () => {
    const asked = model.requests.find(({ prompt }) => prompt.includes(text));
    assert.ok(
      asked?.earlier.some((earlier) => earlier.includes('You are in Plan mode')),
      'Not in its conversation',
    );
  });
  await screen.shows(new RegExp(`${text}[\\s\\S]*It is xyzzy`));
};

/** What runs outside of the sandbox only starts it. */
const assertContained = async ({ marker }: RealSession): Promise<void> => {
  const here = readlinkSync('/proc/self/ns/mnt');
  const found = await processesOf(marker());
  const outside = found.filter((pid) => readlinkSync(`/proc/${pid}/ns/mnt`) === here);
  assert.ok(found.length > outside.length);
  for (const pid of outside) assert.match(readFileSync(`/proc/${pid}/comm`, 'utf8'), /^bwrap$/m);
};

/** `times` has the mode and the message of each time. */
const assertDetached = async (
  session: RealSession,
  as: string,
  times: ([mode: string, text: string] | [])[],
): Promise<void> => {
  await eventually(async () => {
    const { status, attached = [] } = await session.session();
    assert.equal(status, as);
    assert.equal(attached.length, times.length);
    assert.ok(attached.every(({ ended_at }) => ended_at !== null));
  });
  assert.equal(await session.lives(), false);
  const said = times.filter((each) => each.length > 0);
  const messages = await session.messages();
  assert.deepEqual(
    messages.map(({ mode, text }) => [mode, text]),
    said,
  );
  assert.ok(messages.every(({ from }) => from === 'attach'));
  const events = (await session.events()).filter(({ event }) => event === 'operator_message');
  assert.deepEqual(
    events.map(({ data }) => data.text),
    said.map(([, text]) => text),
  );
};
