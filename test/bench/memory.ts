import { watchEnough } from './idle.ts';
import { DOSSIER, memoryOf, startServer } from './processes.ts';
import type { Row } from './report.ts';
import { makeWorkspace } from './workspaces.ts';

const COUNT = 10_000;

/** What a Work item that is known and watched, and asked for by nobody, takes of memory. */
export const benchMemory = async (): Promise<Row[]> => {
  const [none, many] = [await atRest(0), await atRest(COUNT)];
  return [
    {
      what: 'memory at rest, 10,000 items watched',
      measured: `${many.toFixed(0)} MB, ${(((many - none) * 1024) / COUNT).toFixed(1)} KB an item`,
      limit: '180 MB',
      ratio: many / 180,
      target: '<= 1',
    },
  ];
};

const atRest = async (count: number): Promise<number> => {
  const workspace = makeWorkspace(count);
  const dossier = await startServer(DOSSIER, [
    '--workspace',
    workspace.root,
    '--port',
    '0',
    '--log-level',
    'silent',
  ]);
  await watchEnough(dossier.pid, count);
  const mb = memoryOf(dossier.pid);
  await dossier.stop();
  workspace.remove();
  return mb;
};
