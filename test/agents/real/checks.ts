/** What is tried with each agent. Each check throws where Dossier's word is not kept, and answers what it saw. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../../helpers/eventually.ts';
import { processesNaming } from '../../helpers/processes.ts';
import type { Part, Rule } from '../../helpers/scripted-model.ts';
import { type RealSession, startSession, TITLE, type Wanted } from './session.ts';

export type Tried = Pick<Wanted, 'agent' | 'kind'>;

/** By the heading of its column. */
export type Cells = Record<string, string>;

const PLAN = '# Plan\n\nAdd instead of subtracting in math.ts, and note it in NOTES.md.';
const APPROVED = `${PLAN}\n\nAnd nothing else (the operator adds).\n`;

export const EDIT: Part = {
  edit: 'math.ts',
  old: 'export const add = (a: number, b: number) => a - b;',
  new: 'export const add = (a: number, b: number) => a + b;',
};
export const NOTE: Part = { write: 'NOTES.md', content: 'It adds now.\n' };
export const DIFF = [
  '+It adds now.',
  '-export const add = (a: number, b: number) => a - b;',
  '+export const add = (a: number, b: number) => a + b;',
];
// Of the daemon's own server; called twice, since some agents have to search for it first.
const TOOL = 'read_work_item';
const PATIENCE_MS = 120_000;

const IN_PLAN_MODE = 'You are in Plan mode';
export const planning: Rule = {
  when: IN_PLAN_MODE,
  steps: [[{ read: 'math.ts' }], [{ text: PLAN }]],
};

export const approved = (steps: Part[][]): Rule => ({ when: 'the operator adds', steps });

/** The plan, edited by hand, is what is done, and all that is done. */
export const job = async (t: TestContext, tried: Tried): Promise<Cells> => {
  const work = approved([
    [{ read: 'math.ts' }],
    [NOTE],
    [EDIT],
    [{ mcp: TOOL }],
    [{ mcp: TOOL }],
    [{ text: 'It adds now.' }],
  ]);
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules: [planning, work] });
  await approve(session);
  const { usage } = await session.until('completed');
  assert.deepEqual(session.diff(), DIFF);
  assert.equal(await session.lives(), false);
  const prompted = session.model.requests.find(({ prompt }) => prompt.includes(APPROVED));
  assert.ok(prompted, 'The approved plan is in no prompt');
  // A title for the conversation is asked for without tools, and counted by nobody.
  const asked = session.model.requests.filter(({ tools }) => tools.length > 0).length;
  return {
    [COLUMNS.job]: remembers(prompted.earlier),
    [COLUMNS.usage]: usageCell(usage, asked),
    [COLUMNS.mcp]: tried.kind === 'command' ? '–' : mcpCell(session),
  };
};

export const COLUMNS = {
  job: 'Plan → approve → work',
  revised: 'Plan again, as asked',
  sandboxed: 'Writes in Plan mode, with bubblewrap',
  checked: 'Writes in Plan mode, without',
  pause: 'Pause, resume',
  commits: 'Commits in the sandbox',
  message: 'Messages, over pause, kill and restart',
  abort: 'Abort',
  usage: 'Usage',
  mcp: 'MCP server',
  asks: 'Asks before it runs',
  choice: 'Model and effort',
  outage: 'An outage of its model in Work mode',
  setUp: "The operator's own set-up",
  attach: '`dossier attach`',
} as const;

export const approve = async (session: RealSession): Promise<void> => {
  await session.until('plan_ready');
  assert.equal(readFileSync(join(session.dir, 'plan.md'), 'utf8').trim(), PLAN);
  assert.equal(session.status(), '');
  writeFileSync(join(session.dir, 'plan.md'), APPROVED);
  await session.post('approve');
};

const remembers = (earlier: string[]): string =>
  earlier.some((text) => text.includes(IN_PLAN_MODE))
    ? 'yes, one conversation'
    : 'yes, work begins anew with the plan';

const usageCell = (
  usage: { input_tokens: number | null; cost_usd: number | null } | null,
  asked: number,
): string => {
  const { input_tokens: tokens = null, cost_usd: cost = null } = usage ?? {};
  const exact = tokens === asked * 100;
  const told = [
    ...(tokens === null ? [] : [exact ? 'tokens' : `tokens (${tokens} of ${asked * 100})`]),
    ...(cost === null ? [] : ['cost']),
  ];
  return told.length === 0 ? 'not told' : told.join(', ');
};

const mcpCell = ({ model }: RealSession): string => {
  const offered = model.requests.some(({ tools }) => tools.some((name) => name.endsWith(TOOL)));
  if (!offered) return 'no';
  const answered = model.requests.some(({ results }) =>
    results.some((text) => text.includes(TITLE) && text.includes('proof_gate')),
  );
  return answered ? 'yes' : 'offered, not reached';
};

/** Nothing stays changed in Plan mode, whatever the agent lets its model do. */
export const planWrites = async (
  t: TestContext,
  tried: Tried,
  sandbox: 'auto' | 'off',
): Promise<string> => {
  const { agent, kind } = tried;
  const rules = [
    {
      when: IN_PLAN_MODE,
      steps: [
        [NOTE],
        [EDIT],
        [{ shell: 'echo sneaky > sneaky.txt' }],
        [{ text: PLAN }],
      ] satisfies Part[][],
    },
  ];
  const session = await startSession(t, { agent, kind, sandbox, rules });
  const { status, error } = await session.until('plan_ready', 'failed');
  assert.equal(session.status(), '');
  assert.equal(await session.lives(), false);
  if (status === 'plan_ready') return sandbox === 'auto' ? 'none' : 'none: refused by itself';
  if (/refused/.test(error ?? '')) return 'none: refused, which ends its turn';
  assert.match(error ?? '', /plan_mode_violation/);
  assert.equal(sandbox, 'off', error ?? '');
  const patch = readFileSync(join(session.dir, 'plan-mode-violation.patch'), 'utf8');
  const ways = [
    ...(patch.includes('sneaky.txt') ? ['its shell'] : []),
    ...(/NOTES\.md|math\.ts/.test(patch) ? ['its file tools'] : []),
  ];
  return `by ${ways.join(' and ')}: told and undone`;
};

/** Work that is paused in the middle goes on where it stopped. */
export const pause = async (t: TestContext, tried: Tried): Promise<string> => {
  const rules: Rule[] = [
    planning,
    {
      when: 'You were stopped in the middle',
      steps: [[{ read: 'math.ts' }], [EDIT], [{ text: 'It adds now.' }]],
    },
    approved([[NOTE], [{ text: 'Now the other.' }, { hang: true }]]),
  ];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules });
  await approve(session);
  await eventually(async () => {
    await session.until('working');
    assert.equal(session.status(), '?? NOTES.md\n');
    assert.equal(session.model.requests.at(-1)?.results.length, 1);
  }, PATIENCE_MS);
  await session.control('pause');
  await session.until('paused');
  assert.equal(await session.lives(), false);
  await session.control('resume');
  await session.until('completed');
  assert.deepEqual(session.diff(), DIFF);
  const resumed = session.model.requests.find(({ prompt }) => prompt.includes('You were stopped'));
  return (resumed?.earlier ?? []).some((text) => text.includes(APPROVED))
    ? 'yes, one conversation'
    : 'yes, anew with the plan and what is done';
};

/** After an abort nothing of the agent is alive, commands in a process session of their own included. */
export const abort = async (t: TestContext, tried: Tried): Promise<string> => {
  const mark = randomUUID();
  const command = `setsid tail -F ${mark}-away 2>/dev/null & tail -F ${mark}-here 2>/dev/null`;
  const rules = [planning, approved([[{ shell: command }], [{ text: 'Done.' }]])];
  const session = await startSession(t, { ...tried, sandbox: 'off', rules });
  await approve(session);
  const running = await eventually(async () => {
    const { status } = await session.until('working', 'completed');
    const runs = ['away', 'here'].every((name) => tails(`${mark}-${name}`));
    assert.ok(runs || status === 'completed', 'The command does not run');
    return runs;
  }, PATIENCE_MS);
  // Nobody can be asked while a command runs, so some refuse their shell by themselves.
  if (!running) {
    assert.equal(tried.kind, 'command', 'The command did not run');
    assert.equal(await session.lives(), false);
    return 'not tried: runs no shell unasked';
  }
  await session.control('abort');
  assert.equal(await session.lives(), false);
  assert.equal(tails(mark), false);
  assert.equal(existsSync(join(session.tree, 'NOTES.md')), false);
  return 'nothing left alive';
};

const tails = (text: string): boolean => processesNaming(text).length > 0;

// Of each kind one: what agents take for harmless, what they trust in their mode, what changes a file, what has effects.
const COMMANDS = [
  'echo harmless',
  'cat math.ts',
  'git log -1 --format=%s',
  'mkdir made',
  'touch by-shell.txt',
  'env | sort',
];

/** With `execute: ask` each command is asked for before it runs, and one that is refused does not run. */
export const asks = async (t: TestContext, tried: Tried): Promise<string> => {
  if (tried.kind === 'command') return 'nobody to ask';
  const steps: Part[][] = [...COMMANDS.map((shell) => [{ shell }]), [{ text: 'Done.' }]];
  const rules = [planning, approved([[NOTE], ...steps])];
  const session = await startSession(t, { ...tried, sandbox: 'off', rules, execute: 'ask' });
  await approve(session);
  await session.until('completed');
  const events = await session.events();
  const asked = events
    .filter(({ event }) => event === 'permission_request')
    .map(({ data }) => `${data.command ?? data.title}`);
  // What failed without a question was refused by the agent itself, and did not run.
  const ran = events
    .filter(({ event, data }) => event === 'tool_call' && data.status === 'completed')
    .map(({ data }) => `${data.title}`);
  const unasked = COMMANDS.filter(
    (command) =>
      !asked.some((text) => text.includes(command)) &&
      ran.some((title) => isCallOf(title, command)),
  );
  if (unasked.length === 0) return 'for every command';
  assert.ok(!unasked.some((command) => WRITING.test(command)), `Ran unasked: ${unasked}`);
  return `but for what only reads: ${unasked.map((each) => `\`${each}\``).join(', ')}`;
};

const WRITING = /^(mkdir|touch)/;

// Codex tells a `cat` as the reading of a file.
const isCallOf = (title: string, command: string): boolean =>
  title.includes(command) || (title.startsWith('Read file') && command.startsWith('cat'));
