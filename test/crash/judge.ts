/** Starts the daemon on what a power cut left, and asks whether all that it had answered is there. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../lib/cli/check.ts';
import { checkWorkspace } from '../../store/check/check.ts';
import type { Finding } from '../../store/check/finding.ts';
import { layoutOf } from '../../store/layout.ts';
import type { EventRecord } from '../../store/records/event.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import type { Running } from '../helpers/service.ts';
import { putBack } from './images.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { type Cut, treeAfter } from './states.ts';
import type { Traced } from './traced.ts';
import { pathsOf, type Tree } from './tree.ts';
import { letWatch } from './unwatched.ts';
import { lookUntil, type Views } from './views.ts';
import { configOf, end, live, must, workspaceOf } from './world.ts';

/** What is wrong after that cut; undefined where nothing is. */
export const judge = async (traced: Traced, cut: Cut): Promise<string | undefined> => {
  const { root } = traced.world;
  const tree = treeAfter(traced, cut);
  putBack({ world: traced.world, tree });
  letTimePass(root, tree);
  letWatch(cut.isWatched === true);
  try {
    if (cut.isMended === true) await mendAlone(root);
    await judgeLife(traced, cut);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

// The machine had to start again: what gives signs of life has not for a while.
const letTimePass = (root: string, tree: Tree): void => {
  const locks = [...pathsOf(tree).keys()].filter((path) =>
    /^repository\/\.git\/.*\.lock$/.test(path),
  );
  for (const path of locks) utimesSync(join(root, path), 1, 1);
  const dir = join(workspaceOf(root), '.dossier');
  if (!existsSync(dir)) return;
  const before = Date.now() / 1000 - 120;
  for (const name of readdirSync(dir).filter((each) => /^(daemon|owner)/.test(each)))
    utimesSync(join(dir, name), before, before);
};

const judgeLife = async (traced: Traced, cut: Cut): Promise<void> => {
  const { world } = traced;
  const life = await live(world.root).catch((error: unknown) => {
    throw new Error(`it does not start: ${error}`, { cause: error });
  });
  try {
    const wrong = await lookUntil(life, world, (views) => whatIsWrong(traced, cut, views));
    if (wrong !== undefined) throw new Error(wrong);
    await judgeEvents(traced, cut, life);
    judgeLog(traced, life);
    await judgeCommits(world.root, life);
    await judgeCheck(world.root);
    await goOn(traced, life);
  } finally {
    await end(life);
  }
};

export const judgeLog = ({ operations }: Pick<Traced, 'operations'>, { logged }: Running): void => {
  const fine = operations.flatMap((name) => operationOf(name)?.logs ?? []);
  const strange = logged
    .map((line) => JSON.stringify(line, withCauses))
    .filter((line) => !fine.some((known) => known.test(line)));
  if (strange.length > 0) throw new Error(`logged: ${strange.join()}`);
};

const withCauses = (_key: string, value: unknown): unknown =>
  value instanceof Error
    ? {
        ...value,
        message: value.message,
        ...(value.cause !== undefined && { cause: `${value.cause}` }),
      }
    : value;

interface Progress {
  /** The operation under way; all before it are done. */
  index: number;
  isSent: boolean;
  isAnswered: boolean;
}

/** How far the traced program was. */
export const progressAt = ({ said, operations }: Traced, at: number): Progress => {
  const has = (what: string): boolean => said.some((one) => one.what === what && one.at <= at);
  const index = operations.findIndex((_, each) => !has(`done/${each}`));
  if (index < 0) return { index: operations.length, isSent: false, isAnswered: false };
  return { index, isSent: has(`sent/${index}`), isAnswered: has(`answered/${index}`) };
};

const operationOf = (name: string | undefined): Operation | undefined =>
  OPERATIONS.find((one) => one.name === name);

/** What can be read has to be as after the last operation that was answered, or as after the one that was under way. */
export const whatIsWrong = (traced: Traced, cut: Cut, now: Views): string | undefined => {
  const { index, isSent, isAnswered } = progressAt(traced, cut.at);
  const before = traced.views[index] ?? {};
  const after = traced.views[index + 1];
  const atWork = traced.operations.slice(index).flatMap((name) => {
    const one = operationOf(name);
    return one?.isAtWork === true && one.between !== undefined ? [one.between] : [];
  });
  const isFine: IsFine = (path, value) => atWork.some((between) => between(path, value));
  if (!isSent || after === undefined) return differs(now, before, isFine);
  const one = operationOf(traced.operations[index]);
  const isBetween: IsFine = (path, value) =>
    isFine(path, value) || one?.between?.(path, value) === true;
  if (one?.isMany === true) return mixed(now, before, after, isBetween);
  const late = differs(now, after, isFine);
  if (late === undefined || isAnswered) return late && `answered, and ${late}`;
  const early = differs(now, before, isBetween);
  return early && `half done: ${early}; and of the other: ${late}`;
};

type IsFine = (path: string, value: string) => boolean;
const never: IsFine = () => false;

export const differs = (now: Views, wanted: Views, isFine: IsFine = never): string | undefined => {
  for (const path of new Set([...Object.keys(wanted), ...Object.keys(now)]))
    if (now[path] !== wanted[path] && !isFine(path, now[path] ?? ''))
      return apart(path, now[path], wanted[path]);
  return undefined;
};

// From a little before the place where they part.
const apart = (path: string, now = 'not there', wanted = 'not there'): string => {
  let same = 0;
  while (same < now.length && now[same] === wanted[same]) same += 1;
  const from = Math.max(0, same - AROUND);
  const part = (text: string): string => `${from > 0 ? '…' : ''}${text.slice(from, from + PART)}`;
  return `${path} is ${part(now)}, and should be ${part(wanted)}`;
};

const AROUND = 40;
const PART = 160;

export const mixed = (
  now: Views,
  before: Views,
  after: Views,
  isFine: IsFine = never,
): string | undefined => {
  for (const path of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const value = now[path] ?? '';
    const isOne = value === (before[path] ?? '') || value === (after[path] ?? '');
    if (!isOne && !isFine(path, value))
      return `${path} is ${value}, and should be ${before[path]} or ${after[path]}`;
  }
  return undefined;
};

const judgeEvents = async ({ said }: Traced, cut: Cut, life: Running): Promise<void> => {
  const events = await eventsOf(life);
  const ids = events.map(({ id }) => id);
  for (const { at, what } of said)
    if (at <= cut.at && what.startsWith('told/'))
      assert.ok(ids.includes(what.slice('told/'.length)), 'an event that was told is gone');
  await judgeJournal(events, life);
};

/** Each event has a number of its own, and what was told of each Work item is what its file says. */
export const judgeJournal = async (
  events: readonly EventRecord[],
  life: Running,
): Promise<void> => {
  const numbers = events.map(({ seq }) => seq);
  assert.equal(new Set(numbers).size, numbers.length, 'two events have one number');
  await judgeStates(events, life);
};

export const eventsOf = async ({ service }: Running): Promise<EventRecord[]> => {
  const events: EventRecord[] = [];
  for await (const event of service.store.journal.history(0)) events.push(event);
  return events;
};

/** The commit of each completed session is there, with all files. */
const judgeCommits = async (root: string, life: Running): Promise<void> => {
  for (const { id } of await must<{ id: string }[]>(life, 'GET /cases'))
    for (const { commit } of await must<Session[]>(life, `GET /cases/${id}/sessions`))
      if (commit?.id != null)
        execFileSync('git', ['rev-list', '--objects', '--quiet', commit.id], {
          cwd: join(root, 'repository'),
          stdio: ['ignore', 'ignore', 'pipe'],
        });
};

// Each change of state begins where the one before it ended, and the last is what the file says.
const judgeStates = async (events: readonly EventRecord[], life: Running): Promise<void> => {
  const last = new Map<string, string>();
  for (const { body } of events.filter((one) => one.body.event_type === 'case_state_changed')) {
    const { case_id = '', old_state = '', new_state = '' } = statesIn(body.payload);
    const known = last.get(case_id) ?? old_state;
    assert.equal(old_state, known, `${case_id} was told to leave ${old_state}, and was ${known}`);
    last.set(case_id, new_state);
  }
  const told = (type: string, id: string): number =>
    events.filter(({ body }) => body.event_type === type && statesIn(body.payload).case_id === id)
      .length;
  for (const { id, state } of await must<{ id: string; state: string }[]>(life, 'GET /cases')) {
    assert.equal(last.get(id) ?? state, state, `${id} is ${state}, and ${last.get(id)} was told`);
    // The oldest events are dropped once nobody needs them.
    const created = told('case_created', id);
    const isFine = created === 1 || (created === 0 && events[0]?.seq !== 1);
    assert.ok(isFine, `${id} is there, and was told ${created} times`);
    assert.equal(told('case_deleted', id), 0, `${id} is there, and was told to be deleted`);
  }
};

// Events have another name for one of the states.
const statesIn = (payload: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [
      key,
      value === 'PLANNING' ? 'INVESTIGATING' : `${value}`,
    ]),
  );

const errorsOf = async (root: string): Promise<Finding[]> => {
  const layout = layoutOf(workspaceOf(root), join(root, 'state/dossier'));
  const { findings } = await checkWorkspace(layout, async () => []);
  return findings.filter(({ severity }) => severity === 'error');
};

// Beside the daemon: nothing is left to mend.
export const judgeCheck = async (root: string): Promise<void> => {
  const errors = await errorsOf(root);
  if (errors.length > 0) throw new Error(`check: ${JSON.stringify(errors)}`);
};

// `dossier check --fix` before the daemon is started: it leaves no error, and what it loses is missing afterwards.
const mendAlone = async (root: string): Promise<void> => {
  const said: string[] = [];
  const config = configOf(root);
  const call = { config, commands: [], words: [], values: { fix: true } };
  const code = await check(call, (line) => void said.push(line));
  if (code !== 0) throw new Error(`check --fix: ${said.join('; ')}`);
};

export const goOn = async (
  { operations, world }: Pick<Traced, 'operations' | 'world'>,
  life: Running,
): Promise<void> => {
  for (const name of new Set(operations)) {
    const one = operationOf(name);
    await one?.next(life, world).catch((error: unknown) => {
      throw new Error(`then: ${name}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    });
    // A session that it began holds a lock, which the next operation would find.
    await eventually(() => assert.equal(life.service.engine.live.size, 0), 60_000);
  }
};
