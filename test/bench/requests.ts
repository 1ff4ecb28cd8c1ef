import { load } from './load.ts';
import { micros, pairOf, pairRow, perSecond } from './pair-row.ts';
import { BARE, startDossier, startServer } from './processes.ts';
import type { Row } from './report.ts';
import { alternate } from './rounds.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 5;
// Neither server is measured while its code is still being compiled.
const WARM = 6000;
const AGAINST = 'bare hapi';

interface Counts {
  /** Requests a round for one Work item. */
  ones: number;
  /** Requests a round for a list of 1,000. */
  lists: number;
}

/** Reads: one Work item and a list of a thousand, against hapi with a ready Buffer. */
export const benchReads = async ({ ones, lists }: Counts): Promise<Row[]> => {
  const workspace = makeWorkspace(1000);
  const bare = await startServer(BARE);
  const dossier = await startDossier(workspace.root);
  const path = `/cases/${workspace.ids[0]}`;
  await load(dossier, path, WARM);
  await load(bare, '/one', WARM);
  const [one, bareOne] = await alternate(
    ROUNDS,
    () => load(dossier, path, ones),
    () => load(bare, '/one', ones),
  );
  if (lists > 0) {
    await load(dossier, '/cases', WARM);
    await load(bare, '/thousand', WARM);
  }
  const [list, bareList] = await alternate(
    lists > 0 ? ROUNDS : 0,
    () => load(dossier, '/cases', lists),
    () => load(bare, '/thousand', lists),
  );
  await Promise.all([bare.stop(), dossier.stop()]);
  workspace.remove();
  const rows = [
    pairRow(
      {
        key: 'get-one-rate',
        what: 'GET one Work item, requests a second',
        better: 'higher',
        target: '>= 0.80',
      },
      { ...pairOf('per_s', one, bareOne), against: AGAINST, show: perSecond },
    ),
    pairRow(
      { key: 'get-one-cpu', what: 'GET one Work item, CPU a request', target: '<= 1.25' },
      { ...pairOf('cpu_us', one, bareOne), against: AGAINST, show: micros },
    ),
  ];
  if (lists === 0) return rows;
  return [
    ...rows,
    pairRow(
      { key: 'get-list-cpu', what: 'GET a list of 1,000, CPU a request', target: '<= 1.3' },
      { ...pairOf('cpu_us', list, bareList), against: AGAINST, show: micros },
    ),
  ];
};
