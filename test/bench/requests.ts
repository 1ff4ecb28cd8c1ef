import { alternate, type Load, load, median } from './load.ts';
import { BARE, DOSSIER, startServer } from './processes.ts';
import type { Row } from './report.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 5;
const ONES = 6000;
const LISTS = 600;
// Few: each leaves a row in the tables of the kernel for a minute, and those are what is measured.
const CONNECTIONS = 150;
const CLOSED = { connection: 'close' };

/** Reads: one Work item and a list of a thousand, against hapi with a ready Buffer. */
export const benchReads = async (): Promise<Row[]> => {
  const workspace = makeWorkspace(1000);
  const bare = await startServer(BARE, []);
  const dossier = await startServer(DOSSIER, [
    '--workspace',
    workspace.root,
    '--port',
    '0',
    '--log-level',
    'silent',
  ]);
  // Both warm: neither is measured while its code is still being compiled.
  for (const [server, path] of [
    [dossier, `/cases/${workspace.ids[0]}`],
    [dossier, '/cases'],
    [bare, '/one'],
    [bare, '/thousand'],
  ] as const)
    await load(server, path, LISTS * 10);
  const one = await alternate(
    ROUNDS,
    () => load(dossier, `/cases/${workspace.ids[0]}`, ONES),
    () => load(bare, '/one', ONES),
  );
  const list = await alternate(
    ROUNDS,
    () => load(dossier, '/cases', LISTS),
    () => load(bare, '/thousand', LISTS),
  );
  const alone = await alternate(
    ROUNDS,
    () => load(dossier, `/cases/${workspace.ids[0]}`, CONNECTIONS, CLOSED),
    () => load(bare, '/one', CONNECTIONS, CLOSED),
  );
  await Promise.all([bare.stop(), dossier.stop()]);
  workspace.remove();
  return [
    row('GET one Work item, requests a second', 'per_s', one, '>= 0.7'),
    row('GET one Work item, CPU a request', 'cpu_us', one, '<= 1.4'),
    row('GET a list of 1,000, CPU a request', 'cpu_us', list, '<= 1.3'),
    row('GET one over a connection of its own, CPU', 'cpu_us', alone, '<= 8'),
  ];
};

const row = (
  what: string,
  key: keyof Load,
  [ours, bare]: [Load[], Load[]],
  target: string,
): Row => {
  const unit = key === 'per_s' ? '/s' : ' µs';
  const [a, b] = [ours, bare].map((loads) => median(loads.map((each) => each[key]))) as [
    number,
    number,
  ];
  const ratio = median(ours.map((each, round) => each[key] / (bare[round]?.[key] ?? Number.NaN)));
  return {
    what,
    measured: `${a.toFixed(0)}${unit}`,
    limit: `${b.toFixed(0)}${unit} bare hapi`,
    ratio,
    target,
  };
};
