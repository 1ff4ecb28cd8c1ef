import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { watchEnough } from './idle.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { cpuOf } from './usage.ts';
import { type BenchWorkspace, makeWorkspace } from './workspaces.ts';

const COUNT = 10_000;

/** Ten thousand files changed as fast as one program can, until all of it is told, against writing and looking alone. */
export const benchBurst = async (): Promise<Row[]> => {
  const workspace = makeWorkspace(COUNT);
  const dossier = await startDossier(workspace.root);
  await watchEnough(dossier.pid, COUNT);
  const cpu = cpuOf(dossier.pid);
  const from = performance.now();
  changeAll(workspace, 'BLOCKED');
  await settled(dossier.url, 'BLOCKED');
  const told = performance.now() - from;
  const cost = cpuOf(dossier.pid) - cpu;
  await dossier.stop();
  const bare = performance.now();
  changeAll(workspace, 'OPEN');
  for (const file of workspace.files) lstatSync(file);
  const limit = performance.now() - bare;
  workspace.remove();
  return [
    {
      key: 'burst',
      what: 'burst of 10,000 changes, until all is known',
      measured: `${(told / 1000).toFixed(1)} s, ${(cost / 1000).toFixed(1)} s of CPU`,
      limit: `${(limit / 1000).toFixed(1)} s to write and lstat them`,
      ratio: told / limit,
      target: '<= 4',
    },
  ];
};

const changeAll = ({ files }: BenchWorkspace, state: string): void => {
  for (const file of files)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^state: .*$/m, `state: ${state}`));
};

const LOOK_AGAIN_MS = 50;

const settled = async (url: string, state: string): Promise<void> => {
  for (;;) {
    const answer = await fetch(`${url}/cases?state=${state}`);
    const items = (await answer.json()) as unknown[];
    if (items.length === COUNT) return;
    await delay(LOOK_AGAIN_MS);
  }
};
