import { setTimeout as delay } from 'node:timers/promises';
import { watchEnough } from './idle.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { memoryOf } from './usage.ts';
import { makeWorkspace } from './workspaces.ts';

const COUNT = 10_000;
const STARTED_MS = 6000;
// V8 collects what a start left in its idle time, after one or two of the sweeps of each minute.
const SETTLED_MS = 150_000;

interface Memory {
  /** Resident memory in MB, some seconds after the start. */
  started: number;
  /** The same at rest. */
  rest: number;
}

/** What the daemon takes of memory where nobody asks for anything, and what a Work item adds that is known and watched. */
export const benchMemory = async (): Promise<Row[]> => {
  const [none, many] = await Promise.all([measure(0), measure(COUNT)]);
  const each = ((many.rest - none.rest) * 1024) / COUNT;
  return [
    {
      key: 'memory-empty',
      what: 'memory at rest, an empty workspace',
      measured: `${none.rest.toFixed(0)} MB, ${none.started.toFixed(0)} MB as it starts`,
      limit: '96 MB',
      ratio: none.rest / 96,
      target: '<= 1',
    },
    {
      key: 'memory-10000',
      what: 'the same, 10,000 items watched',
      measured: `${each.toFixed(1)} KB an item, ${many.rest.toFixed(0)} MB, ${many.started.toFixed(0)} MB as it starts`,
      limit: '3 KB an item',
      ratio: each / 3,
      target: '<= 1',
    },
  ];
};

const measure = async (count: number): Promise<Memory> => {
  const workspace = makeWorkspace(count);
  const dossier = await startDossier(workspace.root);
  await watchEnough(dossier.pid, count);
  await delay(STARTED_MS);
  const started = memoryOf(dossier.pid);
  await delay(SETTLED_MS);
  const rest = memoryOf(dossier.pid);
  await dossier.stop();
  workspace.remove();
  return { started, rest };
};
