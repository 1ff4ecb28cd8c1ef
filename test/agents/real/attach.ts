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
  claude: /plan mode on/,
  codex: /Ask Codex to do anything/,
  gemini: /Type your message/,
  opencode: /ctrl\+p commands/,
  qwen: /Type your message/,
};

/** Its own interface continues the conversation of the plan in the sandbox, and the session has what is said there. */
export const attaches = async (t: TestContext, tried: Tried): Promise<string> => {
  if (tried.kind === 'command') return '–';
  const work = approved([[{ write: 'NOTES.md', content: 'Noted.\n' }], [{ text: 'Noted.' }]]);
  const rules = [...answers, planning, work];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules, terminal: true });
  await session.until('plan_ready');

  const screen = await opened(t, session, tried);
  await says(session, screen, SAID);
  await assertContained(session);
  await screen.enter('/quit', () => assert.match(screen.text(), /ended \d/));
  await screen.shows(/1 message recorded/);
  assert.ok(screen.isRestored());
  await assertDetached(session, [SAID]);

  const another = await opened(t, session, tried);
  await says(session, another, MORE);
  another.close();
  await assertDetached(session, [SAID, MORE]);
  assert.match(readFileSync(join(session.dir, 'session.md'), 'utf8'), /^ {4}from: attach$/m);

  await approve(session);
  await session.until('completed');
  const worked = session.model.requests.find(({ prompt }) => prompt.includes('the operator adds'));
  return worked?.earlier.some((text) => text.includes(SAID))
    ? 'yes, one conversation'
    : 'yes, work begins anew with the plan';
};

const opened = async (t: TestContext, session: RealSession, { agent }: Tried): Promise<Screen> => {
  const screen = attachAt(t, session);
  const ready = READY[agent] as RegExp;
  await screen.shows(new RegExp(`${ready.source}|${TRUST.source}`));
  if (TRUST.test(screen.text())) screen.press('Enter');
  await screen.shows(ready);
  return screen;
};

// Of the directory, which is the worktree: what is allowed there stays in the copy of its state.
const TRUST = /Yes, I trust this folder|Trust and continue/;

const says = async ({ model }: RealSession, screen: Screen, text: string): Promise<void> => {
  await screen.enter(text, () => {
    const asked = model.requests.find(({ prompt }) => prompt.includes(text));
    assert.ok(asked?.earlier.some((earlier) => earlier.includes('You are in Plan mode')));
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

const assertDetached = async (session: RealSession, said: string[]): Promise<void> => {
  await eventually(async () => {
    const { status, attached = [] } = await session.session();
    assert.equal(status, 'plan_ready');
    assert.ok(attached.length > 0 && attached.every(({ ended_at }) => ended_at !== null));
  });
  assert.equal(await session.lives(), false);
  assert.equal(session.status(), '');
  const messages = await session.messages();
  assert.deepEqual(
    messages.map(({ text, from, mode }) => [text, from, mode]),
    said.map((text) => [text, 'attach', 'plan']),
  );
  const events = await session.events();
  const streamed = events.filter(({ event }) => event === 'operator_message');
  assert.deepEqual(
    streamed.map(({ data }) => data.text),
    said,
  );
};
