import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { millis, pairOf, pairRow, seconds } from './pair-row.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { alternate, median } from './rounds.ts';
import { type Cost, nodeCost } from './run-command.ts';
import { cpuOf, memoryOf } from './usage.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 5;

/** From the start of the process to the first answer of /health, against `node -e 0`. */
export const benchEmptyStart = async (): Promise<Row[]> => {
  const none = makeWorkspace(0);
  const [ours, node] = await alternate(
    ROUNDS,
    async () => firstAnswerOf(await startOnce(none.root)),
    () => nodeCost('0'),
  );
  none.remove();
  return [
    pairRow(
      { key: 'start-empty', what: 'start to first /health, empty', target: '<= 4' },
      {
        ...pairOf('ms', ours, node),
        against: 'node -e 0',
        show: millis,
      },
    ),
  ];
};

const firstAnswerOf = ({ first_ms, ...start }: Start): Cost => ({ ...start, ms: first_ms });

interface Targets {
  /** In seconds. */
  fresh?: string;
  known?: string;
}

/**
 * The same with Work items, to the first answer, and until all of them are compared with their files. The daemon has never
 * seen them (as after a clone), or knows them from its last run. Against a program of Node that lists the same directories
 * and reads the same files.
 */
export const benchReady = async (items: number, { fresh, known }: Targets = {}): Promise<Row[]> => {
  const workspace = makeWorkspace(items);
  const { root } = workspace;
  await startOnce(root);
  const [unseen, seen, bare] = await alternate(
    ROUNDS,
    () => {
      rmSync(join(root, '.dossier'), { recursive: true });
      return startOnce(root);
    },
    () => startOnce(root),
    () => nodeCost(READ_ALL, root),
  );
  workspace.remove();
  return [
    ...rowsOf('fresh', `ready, ${items} items never seen`, { ours: unseen, bare, items }, fresh),
    ...rowsOf('known', `ready, ${items} items known`, { ours: seen, bare, items }, known),
  ];
};

interface Starts {
  ours: Start[];
  bare: Cost[];
  items: number;
}

const rowsOf = (
  key: string,
  what: string,
  { ours, bare, items }: Starts,
  target: string | undefined,
): Row[] => {
  const against = 'node, readdir and read';
  const mb = median(ours.map((each) => each.mb)).toFixed(0);
  const first = median(ours.map(({ first_ms }) => first_ms));
  const answers: Row = {
    key: `answers-${key}-${items}`,
    what: `first answer, ${items} items ${key === 'known' ? 'known' : 'never seen'}`,
    measured: millis(first),
    value: first / 1000,
    ...(key === 'known' && { target: items > 10_000 ? '<= 0.6 s' : '<= 0.4 s' }),
  };
  const time = pairRow(
    {
      key: `ready-${key}-${items}`,
      what,
      value: median(ours.map(({ ms }) => ms)) / 1000,
      ...(target !== undefined && { target }),
    },
    { ...pairOf('ms', ours, bare), against, show: seconds },
  );
  return [
    answers,
    { ...time, measured: `${time.measured}, ${mb} MB` },
    pairRow(
      { key: `ready-${key}-${items}-cpu`, what: `${what}, CPU` },
      { ...pairOf('cpu_ms', ours, bare), against, show: seconds },
    ),
  ];
};

const READ_ALL = `
const { readdirSync, readFileSync } = require('node:fs');
const read = (dir) => {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = dir + '/' + entry.name;
    if (entry.isDirectory()) read(path);
    else readFileSync(path);
  }
};
read(process.argv[1] + '/cases');
`;

/** Until all Work items are compared. */
interface Start extends Cost {
  mb: number;
  first_ms: number;
}

const isComparing = async (url: string): Promise<boolean> => {
  const answer = await fetch(`${url}/health`);
  return 'comparing' in ((await answer.json()) as object);
};

const LOOK_MS = 10;

const startOnce = async (root: string): Promise<Start> => {
  const from = performance.now();
  const server = await startDossier(root);
  let comparing = await isComparing(server.url);
  const first_ms = performance.now() - from;
  for (; comparing; comparing = await isComparing(server.url)) await delay(LOOK_MS);
  const start = {
    first_ms,
    ms: performance.now() - from,
    cpu_ms: cpuOf(server.pid),
    mb: memoryOf(server.pid),
  };
  await server.stop();
  return start;
};
