import { dossierScript, orOlder } from './build.ts';
import { millis, pairOf, pairRow } from './pair-row.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { alternate, median } from './rounds.ts';
import { type Cost, costOf, nodeCost } from './run-command.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 5;
const ITEMS = 100;

/** A command in a shell that asks a running daemon, against `node -e 0`. */
export const benchVerbs = async (times: number): Promise<Row[]> => {
  const workspace = makeWorkspace(ITEMS);
  const dossier = await startDossier(workspace.root);
  const call = (verb: string) => (): Promise<Cost> =>
    costOf([process.execPath, dossierScript(), verb, '--workspace', workspace.root]);
  try {
    const first = await call('ls')().catch(orOlder);
    if (first === undefined) return [];
    const [ls, status, node] = await alternate(
      ROUNDS,
      () => medianOf(times, call('ls')),
      () => medianOf(times, call('status')),
      () => medianOf(times, () => nodeCost('0')),
    );
    return [...rowsOf('ls', ls, node), ...rowsOf('status', status, node)];
  } finally {
    await dossier.stop();
    workspace.remove();
  }
};

const medianOf = async (times: number, run: () => Promise<Cost>): Promise<Cost> => {
  const [costs] = await alternate(times, run);
  return {
    ms: median(costs.map(({ ms }) => ms)),
    cpu_ms: median(costs.map(({ cpu_ms }) => cpu_ms)),
  };
};

const rowsOf = (verb: string, ours: Cost[], node: Cost[]): Row[] => {
  const against = 'node -e 0';
  const beyond = median(ours.map(({ ms }, round) => ms - (node[round]?.ms ?? Number.NaN)));
  const time = pairRow(
    {
      key: `verb-${verb}`,
      what: `dossier ${verb}, beyond node -e 0`,
      value: beyond,
      target: '<= 80 ms',
    },
    { ...pairOf('ms', ours, node), against, show: millis },
  );
  return [
    { ...time, measured: `${time.measured}, ${millis(beyond)} beyond` },
    pairRow(
      { key: `verb-${verb}-cpu`, what: `dossier ${verb}, CPU` },
      { ...pairOf('cpu_ms', ours, node), against, show: millis },
    ),
  ];
};
