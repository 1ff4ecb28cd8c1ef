import { spawnSync } from 'node:child_process';
import { alternate, median } from './load.ts';
import { DOSSIER, memoryOf, startServer } from './processes.ts';
import type { Row } from './report.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 7;

interface Start {
  ms: number;
  mb: number;
}

/** From the start of the process to the first answer of /health, against `node -e 0`. */
export const benchStarts = async (): Promise<Row[]> => {
  const none = makeWorkspace(0);
  const [empty, node] = await alternate(
    ROUNDS,
    () => startOnce(none.root),
    async () => bareNode(),
  );
  none.remove();
  return [
    {
      what: 'start to first /health, empty',
      measured: `${ms(empty).toFixed(0)} ms, ${mb(empty)} MB`,
      limit: `${ms(node).toFixed(0)} ms node -e 0`,
      ratio: median(empty.map((each, round) => each.ms / (node[round]?.ms ?? Number.NaN))),
      target: '<= 4',
    },
    ...(await startsWith(10_000)),
  ];
};

/** The same with 50,000 Work items. */
export const benchManyStarts = (): Promise<Row[]> => startsWith(50_000);

const startsWith = async (count: number): Promise<Row[]> => {
  const many = makeWorkspace(count);
  const first = await startOnce(many.root);
  const [full, walked] = await alternate(
    3,
    () => startOnce(many.root),
    async () => bareNode(WALK, many.root),
  );
  many.remove();
  return [
    {
      what: `start to first /health, ${count} items`,
      measured: `${ms(full).toFixed(0)} ms, ${mb(full)} MB`,
      limit: `${ms(walked).toFixed(0)} ms node, readdir and lstat`,
      ratio: ms(full) / ms(walked),
      target: '<= 4',
    },
    { what: 'the same, never seen before (a fresh clone)', measured: `${first.ms.toFixed(0)} ms` },
  ];
};

const ms = (starts: Start[]): number => median(starts.map((each) => each.ms));
const mb = (starts: Start[]): string => median(starts.map((each) => each.mb)).toFixed(0);

const WALK = `
const { lstatSync, readdirSync } = require('node:fs');
const walk = (dir) => {
  for (const name of readdirSync(dir)) {
    const path = dir + '/' + name;
    if (lstatSync(path).isDirectory()) walk(path);
  }
};
walk(process.argv[1] + '/cases');
`;

const startOnce = async (root: string): Promise<Start> => {
  const from = performance.now();
  const server = await startServer(DOSSIER, [
    '--workspace',
    root,
    '--port',
    '0',
    '--log-level',
    'silent',
  ]);
  const answer = await fetch(`${server.url}/health`);
  await answer.arrayBuffer();
  const ms = performance.now() - from;
  const mb = memoryOf(server.pid);
  await server.stop();
  return { ms, mb };
};

const bareNode = (script = '0', ...args: string[]): Start => {
  const from = performance.now();
  spawnSync(process.execPath, ['-e', script, ...args]);
  return { ms: performance.now() - from, mb: 0 };
};
