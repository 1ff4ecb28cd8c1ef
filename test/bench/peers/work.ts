import { setTimeout as delay } from 'node:timers/promises';
import { millis } from '../pair-row.ts';
import { median } from '../rounds.ts';
import { costOf } from '../run-command.ts';
import { type Server, startTool } from './server.ts';
import type { Place, Tool } from './tools.ts';

const RECORDS = 300;
const LISTS = 20;
const SHELL_CALLS = 5;
const SETTLE_MS = 2000;
const SETTLED_CPU_MS = 20;
const SETTLED_AFTER = 30;
const REST_MS = 10_000;

/** What a tool is asked to do, in the order of the table. */
export const WORK = {
  fresh: 'start to its first answer, no records',
  create: `create ${RECORDS} records one after the other, each`,
  kept: 'records that it lists then',
  one: 'get one record',
  list: 'list all',
  again: `start to its first answer, ${RECORDS} records`,
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
  const create = await timed(RECORDS, () => first.ask(tool.create.path, tool.create.body));
  const records = await first.list();
  const one = await timed(records.length, (at) => first.ask(tool.one(records[at] ?? {})));
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
    create: millis(create),
    kept: `${records.length} of ${RECORDS}`,
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

const timed = async (times: number, work: (at: number) => Promise<unknown>): Promise<number> => {
  const all: number[] = [];
  for (let at = 0; at < times; at += 1) {
    const from = performance.now();
    await work(at);
    all.push(performance.now() - from);
  }
  return median(all);
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
