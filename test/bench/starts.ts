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
  const [none, many] = [makeWorkspace(0), makeWorkspace(10_000)];
  const first = await startOnce(many.root);
  const [empty, node] = await alternate(
    ROUNDS,
    () => startOnce(none.root),
    async () => bareNode(),
  );
  const [full] = await alternate(
    3,
    () => startOnce(many.root),
    async () => ({ ms: 0, mb: 0 }),
  );
  for (const workspace of [none, many]) workspace.remove();
  const ms = (starts: Start[]) => median(starts.map((each) => each.ms));
  const mb = (starts: Start[]) => median(starts.map((each) => each.mb)).toFixed(0);
  const ratio = median(empty.map((each, round) => each.ms / (node[round]?.ms ?? Number.NaN)));
  return [
    {
      what: 'start to first /health, empty',
      measured: `${ms(empty).toFixed(0)} ms, ${mb(empty)} MB`,
      limit: `${ms(node).toFixed(0)} ms node -e 0`,
      ratio,
      target: '<= 4',
    },
    {
      what: 'start to first /health, 10,000 items',
      measured: `${ms(full).toFixed(0)} ms, ${mb(full)} MB`,
    },
    { what: 'the same, never seen before (a fresh clone)', measured: `${first.ms.toFixed(0)} ms` },
  ];
};

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

const bareNode = (): Start => {
  const from = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return { ms: performance.now() - from, mb: 0 };
};
