import { setTimeout as delay } from 'node:timers/promises';
import { watchEnough } from './idle.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { memoryOf } from './usage.ts';
import { makeWorkspace } from './workspaces.ts';

const COUNT = 10_000;
// What its start left behind is given back a moment after it.
const SETTLED_MS = 6000;

/** What the daemon takes of memory where nobody asks for anything, and what a Work item adds that is known and watched. */
export const benchMemory = async (): Promise<Row[]> => {
  const [none, many] = [await atRest(0), await atRest(COUNT)];
  return [
    {
      key: 'memory-empty',
      what: 'memory at rest, an empty workspace',
      measured: `${none.toFixed(0)} MB`,
      limit: '80 MB',
      ratio: none / 80,
      target: '<= 1',
    },
    {
      key: 'memory-10000',
      what: 'memory at rest, 10,000 items watched',
      measured: `${many.toFixed(0)} MB, ${(((many - none) * 1024) / COUNT).toFixed(1)} KB an item`,
      limit: '100 MB',
      ratio: many / 100,
      target: '<= 1',
    },
  ];
};

const atRest = async (count: number): Promise<number> => {
  const workspace = makeWorkspace(count);
  const dossier = await startDossier(workspace.root);
  await watchEnough(dossier.pid, count);
  await delay(SETTLED_MS);
  const mb = memoryOf(dossier.pid);
  await dossier.stop();
  workspace.remove();
  return mb;
};
