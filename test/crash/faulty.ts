/** One operation while a call of the file system fails: what it answers has to be so, and nothing needs a hand afterwards. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { resolveAbsent } from '../../store/reconcile/missing.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Answered, Running } from '../helpers/service.ts';
import type { Door, Fault, Kind } from './door.ts';
import type { GitDoor } from './git-door.ts';
import { type Kept, putBack } from './images.ts';
import { differs, eventsOf, goOn, judgeCheck, judgeJournal, judgeLog, mixed } from './judge.ts';
import type { Operation } from './operations.ts';
import { look, type Views } from './views.ts';
import { ask, end, live, workspaceOf } from './world.ts';

/** An operation that nothing fails at: what all others are compared with. */
export interface Rehearsed {
  operation: Operation;
  kept: Kept;
  counts: Map<Kind, number>;
  /** The commands of git that it ran. */
  commands: string[];
  before: Views;
  after: Views;
  /** What was told, by type. */
  told: string[];
}

/** What is made to fail, at whichever door. */
export interface Trial {
  text: string;
  /** None where a program meets it, which has words of its own for it. */
  errno?: Fault['errno'];
  arm(): void;
  /** All is as ever again. Answers which calls failed. */
  disarm(): string[];
}

export interface Tried {
  operation: string;
  fault: string;
  errno: string;
  /** What it answered: `done`, or the code of the refusal. */
  answer: string;
  /** Which calls failed; where there are none it did not come so far. */
  failed: string[];
  wrong: string | undefined;
}

const begin = async (kept: Kept, operation: Operation): Promise<Running> => {
  const { world } = kept;
  putBack(kept);
  const life = await live(world.root);
  await operation.prepare?.(life, world);
  return life;
};

export interface Doors {
  door: Door;
  git: GitDoor;
}

export const rehearse = async (
  { door, git }: Doors,
  kept: Kept,
  operation: Operation,
): Promise<Rehearsed> => {
  const { world } = kept;
  const life = await begin(kept, operation);
  try {
    const before = await look(life, world);
    const from = life.told.length;
    door.arm();
    git.arm();
    const answer = await answerOf(life, kept, operation);
    await operation.settle?.(life);
    const { counts } = door.disarm();
    const { commands } = git.disarm();
    assert.equal(answer.code, 'done', `${operation.name}: ${answer.text}`);
    await operation.calm?.(life, world);
    await compare(life);
    const after = await look(life, world);
    return { operation, kept, counts, commands, before, after, told: toldSince(life, from) };
  } finally {
    door.disarm();
    git.disarm();
    await end(life);
  }
};

interface Answer {
  code: string;
  text: string;
  detail: string;
  read: string | undefined;
}

const answerOf = async (life: Running, { world }: Kept, { run }: Operation): Promise<Answer> => {
  try {
    const { status, body, text = '' } = (await run(life, world)) as Answered;
    if (status < 300) return { code: 'done', text, detail: '', read: undefined };
    const { code, detail, read } = body as { code: string; detail: string; read?: string };
    return { code, text, detail, read };
  } catch (error) {
    // A daemon that does not start.
    const { code = 'error' } = error as { code?: string };
    return { code: `not started: ${code}`, text: `${error}`, detail: '', read: undefined };
  }
};

// That a file cannot be read for a moment is told, too, and that it can again.
const toldSince = ({ told }: Running, from: number): string[] =>
  told
    .slice(from)
    .map(({ event_type }) => event_type)
    .filter((type) => !/^(problem|attention|trust)_/.test(type))
    .toSorted();

const compare = async ({ service: { store } }: Running): Promise<void> => {
  await sweepWorkspace(store);
  await resolveAbsent(store);
};

/** What came of it; `wrong` says what should not have. */
export const tryFault = async (done: Rehearsed, trial: Trial): Promise<Tried> => {
  const { kept, operation } = done;
  const life = await begin(kept, operation);
  const tried: Tried = {
    ...{ operation: operation.name, fault: trial.text, errno: trial.errno ?? 'git' },
    ...{ answer: '', failed: [], wrong: undefined },
  };
  try {
    const from = life.told.length;
    trial.arm();
    const answer = await answerOf(life, kept, operation);
    await operation.settle?.(life);
    const failed = trial.disarm();
    Object.assign(tried, { answer: answer.code, failed });
    if (failed.length > 0) await judgeAnswer(done, { trial, answer, life, from });
  } catch (error) {
    tried.wrong = error instanceof Error ? error.message : String(error);
  } finally {
    trial.disarm();
    await end(life);
  }
  return tried;
};

interface Met {
  trial: Trial;
  answer: Answer;
  life: Running;
  from: number;
}

const judgeAnswer = async (done: Rehearsed, met: Met): Promise<void> => {
  const { kept, operation } = done;
  const { answer, life, trial } = met;
  assertWords(trial, answer);
  const isStarted = !answer.code.startsWith('not started');
  if (isStarted) {
    // A session whose end could not be written is paused at the next comparison.
    await compare(life);
    await operation.calm?.(life, kept.world);
  }
  const now = isStarted ? await judgeClaim(done, met) : undefined;
  await end(life);
  await judgeNextLife(done, now);
};

const CODES: Readonly<Record<string, readonly string[]>> = {
  EIO: ['disk_failed'],
  ENOSPC: ['disk_full'],
  EDQUOT: ['disk_full'],
  EROFS: ['read_only'],
  // Whoever may write git's files may have taken them from the daemon.
  EACCES: ['access_denied', 'unreadable_record', 'worktree_tampered'],
  EMFILE: ['unavailable'],
  ENFILE: ['unavailable'],
  EINTR: ['unavailable'],
};

const assertWords = ({ errno }: Trial, { code, text, detail }: Answer): void => {
  if (code === 'done' || code.startsWith('not started')) return;
  assert.notEqual(code, 'internal', text);
  if (errno === undefined) return;
  const codes = ['may_be_written', ...(CODES[errno] ?? [])];
  assert.ok(codes.includes(code), `${errno} is answered as ${text}`);
  const isUnchanged = /Nothing was changed|[Tt]ry again|was not changed/.test(detail);
  assert.equal(isUnchanged, code !== 'may_be_written', detail);
};

/** Answers what can be read now. */
const judgeClaim = async (done: Rehearsed, met: Met): Promise<Views> => {
  const { operation, kept } = done;
  await compare(met.life);
  const { read, text } = met.answer;
  const now = plain(await look(met.life, kept.world));
  const [before, after] = [plain(done.before), plain(done.after)];
  if (read !== undefined) {
    const { status } = await ask(met.life, `GET ${read}`);
    assert.ok([200, 404].includes(status), `${text}, and GET ${read} is ${status}`);
  }
  const isNothing = /Nothing was changed/.test(met.answer.detail);
  if (operation.isMany === true && !isNothing) {
    const between = mixed(now, before, after, (path, value) =>
      [operation.between, operation.failing].some((isFine) => isFine?.(path, value)),
    );
    assert.ok(between === undefined, `${text}: ${between}`);
    return now;
  }
  const isDone = judgeWhole(met.answer, differs(now, before), differs(now, after));
  if (operation.isMany !== true && differs(before, after) !== undefined)
    assert.deepEqual(toldSince(met.life, met.from), isDone ? done.told : [], text);
  return now;
};

/** Whether it is done. */
const judgeWhole = (
  { code, text }: Answer,
  early: string | undefined,
  late: string | undefined,
): boolean => {
  if (code === 'done') assert.ok(late === undefined, `it is answered as done: ${late}`);
  else if (code !== 'may_be_written') assert.ok(early === undefined, `${text}: ${early}`);
  else if (early !== undefined && late !== undefined)
    assert.fail(`half done: ${early}; and of the other: ${late}`);
  return late === undefined;
};

const judgeNextLife = async (
  { kept: { world }, operation }: Rehearsed,
  known: Views | undefined,
): Promise<void> => {
  const life = await live(world.root);
  try {
    const row = { operations: [operation.name], world };
    judgeLog(row, life);
    await compare(life);
    if (known !== undefined && operation.isMany !== true)
      assert.equal(differs(plain(await look(life, world)), known), undefined, 'after a restart');
    await judgeJournal(await eventsOf(life), life);
    await judgeCheck(world.root);
    for (const name of ['tmp', 'trash'])
      assert.deepEqual(readdirSync(join(workspaceOf(world.root), '.dossier', name)), [], name);
    await goOn(row, life);
  } finally {
    await end(life);
  }
};

// What is made has ids and times of its own each time. A proof is attached also where git cannot say what it is about.
const plain = (views: Views): Views => {
  const lines = Object.entries(views).map(([path, value]) => [plainText(path), plainText(value)]);
  const all: Record<string, string> = {};
  for (const [path = '', value = ''] of lines.toSorted())
    all[path] = all[path] === undefined ? value : `${all[path]} | ${value}`;
  return all;
};

const plainText = (text: string): string =>
  text
    .replaceAll(/"(commit|diff_sha256|tree)":(null|"[0-9a-f]+"),?/g, '')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|[0-9a-f]{40}/g, '*')
    .replaceAll(/\d{4}-\d\d-\d\d[T_ -]\d\d[:-]?\d\d[:-]?\d\d(\.\d+)?Z?/g, 'then')
    .replaceAll(/-[0-9a-f]{8}\b/g, '-*');
