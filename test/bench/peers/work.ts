import { setTimeout as delay } from 'node:timers/promises';
import { millis, seconds } from '../pair-row.ts';
import { median } from '../rounds.ts';
import { costOf } from '../run-command.ts';
import { type Server, startTool } from './server.ts';
import type { Place, Tool } from './tools.ts';

const RECORDS = 10_000;
/** So many are measured where it matters how many there are already. */
const SOME = 300;
/** A tool that takes longer for them all goes on with those that it has. */
const CREATE_MS = 8 * 60_000;
const GETS = 100;
const LISTS = 5;
const SHELL_CALLS = 5;
const SETTLE_MS = 2000;
const SETTLED_CPU_MS = 20;
const SETTLED_AFTER = 30;
const REST_MS = 10_000;

/** What a tool is asked to do, in the order of the table. */
export const WORK = {
  fresh: 'start to its first answer, no records',
  create: `create a record, the first ${SOME}`,
  createLast: `create a record, the last ${SOME}`,
  createAll: `create ${RECORDS} records one after the other, at most ${CREATE_MS / 60_000} min`,
  kept: 'records that it lists then',
  one: 'get one record',
  list: 'list all',
  again: 'start to its first answer, with these records',
  memory: 'memory, all its processes',
  rest: `CPU at rest, in ${REST_MS / 1000} s`,
  shellCreate: 'create a record by a command',
  shellList: 'list all by a command',
} as const;

export type Done = Record<keyof typeof WORK, string>;

/** Does all the work with one tool. Throws where an answer is no success. */
export const workWith = async (tool: Tool, place: Place): Promise<Done> => {
  const init = tool.init?.(place);
  if (init !== undefined) await costOf(init, { cwd: place.data, env: place.env });
  const first = await startTool(tool, place);
  const until = performance.now() + CREATE_MS;
  const creates = await times(
    RECORDS,
    () => first.ask(tool.create.path, tool.create.body),
    () => performance.now() > until,
  );
  const records = await first.list();
  const step = records.length / GETS;
  const one = await timed(GETS, (at) => first.ask(tool.one(records[Math.floor(at * step)] ?? {})));
  const list = await timed(LISTS, first.list);
  await first.stop();
  const server = await startTool(tool, place);
  await settled(server);
  const memory = server.memory();
  const cpu = server.cpu();
  await delay(REST_MS);
  const rest = server.cpu() - cpu;
  const done = {
    fresh: millis(first.ready_ms),
    create: millis(median(creates.slice(0, SOME))),
    createLast: millis(median(creates.slice(-SOME))),
    createAll: seconds(creates.reduce((all, ms) => all + ms, 0)),
    kept: `${records.length} of ${creates.length}`,
    one: millis(one),
    list: millis(list),
    again: millis(server.ready_ms),
    memory: `${memory.toFixed(0)} MB`,
    rest: `${rest.toFixed(0)} ms`,
    shellCreate: await shell(tool.shell.create?.(place), place),
    shellList: await shell(tool.shell.list?.(place), place),
  };
  await server.stop();
  return done;
};

const timed = async (count: number, work: (at: number) => Promise<unknown>): Promise<number> =>
  median(await times(count, work));

/** The time of each, in milliseconds. */
const times = async (
  count: number,
  work: (at: number) => Promise<unknown>,
  isOver = () => false,
): Promise<number[]> => {
  const all: number[] = [];
  for (let at = 0; at < count && !isOver(); at += 1) {
    const from = performance.now();
    await work(at);
    all.push(performance.now() - from);
  }
  return all;
};

/** Resolves when a server has nothing more to do, or after a minute. */
const settled = async (server: Server): Promise<void> => {
  for (let looks = 0; looks < SETTLED_AFTER; looks += 1) {
    const cpu = server.cpu();
    await delay(SETTLE_MS);
    if (server.cpu() - cpu < SETTLED_CPU_MS) return;
  }
};

const shell = async (
  command: readonly string[] | undefined,
  { data, env }: Place,
): Promise<string> => {
  if (command === undefined) return 'no such thing';
  return millis(await timed(SHELL_CALLS, () => costOf(command, { cwd: data, env })));
};
