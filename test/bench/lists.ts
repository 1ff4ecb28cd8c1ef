import { setTimeout as delay } from 'node:timers/promises';
import { watchEnough } from './idle.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { median } from './rounds.ts';
import { cpuOf } from './usage.ts';
import { makeWorkspace } from './workspaces.ts';

const COUNT = 50_000;
const TIMES = 40;

/** Pages and searches among 50,000 known Work items, by one client. The limit is that of a person who waits for a list. */
export const benchLists = async (): Promise<Row[]> => {
  const workspace = makeWorkspace(COUNT);
  const dossier = await startDossier(workspace.root);
  await watchEnough(dossier.pid, 1);
  const rows: Row[] = [];
  for (const { key, what, path, most } of LISTS) {
    const times: number[] = [];
    for (let n = 0; n < TIMES; n += 1) times.push(await timed(`${dossier.url}${path}`));
    const ms = median(times);
    rows.push({
      key,
      what: `${what}, ${COUNT} items`,
      measured: `${ms.toFixed(1)} ms`,
      limit: `${most} ms`,
      ratio: ms / most,
      target: '<= 1',
    });
  }
  await dossier.stop();
  workspace.remove();
  return rows;
};

const LISTS = [
  { key: 'list-page', what: 'a page of 50', path: '/cases?limit=50', most: 15 },
  { key: 'list-newest', what: 'the newest 50', path: '/cases?limit=50&order=newest', most: 15 },
  {
    key: 'list-search',
    what: 'a search without a hit',
    path: '/cases?limit=50&search=nowhere',
    most: 50,
  },
  {
    key: 'list-search-all',
    what: 'a search that all match',
    path: '/cases?limit=50&search=usual',
    most: 50,
  },
] as const;

const timed = async (url: string): Promise<number> => {
  const from = performance.now();
  const answer = await fetch(url);
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return performance.now() - from;
};

const REST_COUNT = 10_000;
const REST_MS = 600_000;

/** The CPU time of a daemon that nobody asks for anything, in ten minutes. */
export const benchRest = async (): Promise<Row[]> => {
  const workspace = makeWorkspace(REST_COUNT);
  const dossier = await startDossier(workspace.root);
  await watchEnough(dossier.pid, REST_COUNT);
  const before = cpuOf(dossier.pid);
  await delay(REST_MS);
  const seconds = (cpuOf(dossier.pid) - before) / 1000;
  await dossier.stop();
  workspace.remove();
  return [
    {
      key: 'rest-cpu',
      what: `CPU at rest in ten minutes, ${REST_COUNT} items`,
      measured: `${seconds.toFixed(2)} s`,
      limit: '1 s',
      ratio: seconds,
      target: '<= 1',
    },
  ];
};
