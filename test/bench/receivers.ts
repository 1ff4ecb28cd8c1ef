import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { connect } from '../../lib/client/client.ts';
import { repeat } from './load.ts';
import { millis, pairOf, pairRow, seconds } from './pair-row.ts';
import { startDossier, stop, track, urlOf } from './processes.ts';
import type { Row } from './report.ts';
import { alternate, median } from './rounds.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 3;
const EVENTS = 5000;
// Then the daemon is busier than a receiver is slow.
const AT_ONCE = 200;
const OTHERS = 20;
const RECEIVING = fileURLToPath(new URL('./receiving.js', import.meta.url));
const DEAD = 'http://127.0.0.1:9';

/** How late a fast receiver hears of 5,000 events beside twenty that are slow, fail, hang or are dead, and alone. */
export const benchReceivers = async (): Promise<Row[]> => {
  const [beside, alone] = await alternate(
    ROUNDS,
    () => lateness(OTHERS),
    () => lateness(0),
  );
  const against = 'alone';
  return [
    pairRow(
      {
        key: 'receiver-late',
        what: `an event at a fast receiver beside ${OTHERS} others`,
        target: '<= 1.3',
      },
      { ...pairOf('middle', beside, alone), against, show: millis },
    ),
    pairRow(
      {
        key: 'receiver-late-p99',
        what: 'the same, p99',
      },
      { ...pairOf('p99', beside, alone), against, show: millis },
    ),
    pairRow(
      { key: 'receiver-all', what: `${EVENTS} events made and received there` },
      { ...pairOf('all', beside, alone), against, show: seconds },
    ),
  ];
};

interface Lateness {
  middle: number;
  p99: number;
  all: number;
}

const lateness = async (others: number): Promise<Lateness> => {
  const workspace = makeWorkspace(100);
  const dossier = await startDossier(workspace.root);
  const child = track(fork(RECEIVING, { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] }));
  const url = await urlOf(child);
  for (const receiver of [`${url}/fast/0`, ...othersAt(url, others)])
    await connect(dossier).call('POST /webhooks', {
      body: { url: receiver, events: ['case_created'] },
    });
  const from = performance.now();
  await make(dossier.url, EVENTS);
  const heard = once(child, 'message');
  child.send(EVENTS);
  const [late] = (await heard) as [number[]];
  const all = performance.now() - from;
  await Promise.all([dossier.stop(), stop(child)]);
  workspace.remove();
  return { middle: median(late), p99: percentile(late, 0.99), all };
};

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

const othersAt = (url: string, count: number): string[] => {
  const kinds = ['slow', 'failing', 'hanging'].map((kind) => `${url}/${kind}`);
  return Array.from({ length: count }, (_, n) => `${[...kinds, DEAD][n % 4]}/${n}`);
};

const make = async (url: string, count: number): Promise<void> => {
  const pool = new Pool(url, { connections: AT_ONCE });
  const body = JSON.stringify({ title: 'A Work item of the usual size', type: 'bug' });
  const headers = { 'content-type': 'application/json' };
  await repeat(count, AT_ONCE, async () => {
    const answer = await pool.request({ method: 'POST', path: '/cases', body, headers });
    await answer.body.dump();
    if (answer.statusCode !== 201) throw new Error(`POST /cases answered ${answer.statusCode}`);
  });
  await pool.close();
};
