import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { costOfEach, type Load, repeat } from './load.ts';
import { micros, pairOf, pairRow, perSecond } from './pair-row.ts';
import { type ServerProcess, startDossier, stop, track } from './processes.ts';
import type { Row } from './report.ts';
import { alternate } from './rounds.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 5;
const AT_ONCE = 8;
const BARE_WRITES = fileURLToPath(new URL('./bare-writes.js', import.meta.url));

/** POST /cases, against a bare loop that makes the same things durable. */
export const benchCreate = async (writes: number): Promise<Row[]> => {
  const workspace = makeWorkspace(100);
  const dossier = await startDossier(workspace.root);
  const bare = startBareWrites();
  await post(dossier, writes);
  await bare.write(writes);
  const [ours, limits] = await alternate(
    ROUNDS,
    () => post(dossier, writes),
    () => bare.write(writes),
  );
  await Promise.all([dossier.stop(), bare.stop()]);
  workspace.remove();
  const against = 'bare writes';
  return [
    pairRow(
      { key: 'post-rate', what: 'POST /cases, 8 at once', better: 'higher', target: '>= 0.45' },
      { ...pairOf('per_s', ours, limits), against, show: perSecond },
    ),
    pairRow(
      { key: 'post-cpu', what: 'POST /cases, 8 at once, CPU a request' },
      { ...pairOf('cpu_us', ours, limits), against, show: micros },
    ),
  ];
};

/** POST /cases with many items, against few. */
export const benchCreateAmongMany = async (writes: number): Promise<Row[]> => {
  const [few, many] = [makeWorkspace(100), makeWorkspace(10_000)];
  const small = await startDossier(few.root);
  const large = await startDossier(many.root);
  for (const server of [small, large]) await post(server, writes);
  const [atMany, atFew] = await alternate(
    ROUNDS,
    () => post(large, writes),
    () => post(small, writes),
  );
  await Promise.all([small.stop(), large.stop()]);
  for (const workspace of [few, many]) workspace.remove();
  return [
    pairRow(
      {
        key: 'post-rate-10000',
        what: 'POST /cases at 10,000 items',
        better: 'higher',
        target: '>= 0.77',
      },
      { ...pairOf('per_s', atMany, atFew), against: 'at 100 items', show: perSecond },
    ),
  ];
};

const post = async ({ url, pid }: ServerProcess, count: number): Promise<Load> => {
  const pool = new Pool(url, { connections: AT_ONCE });
  const body = JSON.stringify({
    title: 'A Work item of the usual size',
    type: 'bug',
    description: 'x'.repeat(600),
  });
  const headers = { 'content-type': 'application/json' };
  const request = async (): Promise<void> => {
    const answer = await pool.request({ method: 'POST', path: '/cases', body, headers });
    if (answer.statusCode !== 201)
      throw new Error(`POST /cases answered ${answer.statusCode}: ${await answer.body.text()}`);
    await answer.body.dump();
  };
  const cost = await costOfEach(pid, count, () => repeat(count, AT_ONCE, request));
  await pool.close();
  return cost;
};

const startBareWrites = () => {
  const child = track(fork(BARE_WRITES));
  return {
    write: (count: number): Promise<Load> =>
      costOfEach(child.pid ?? 0, count, async () => {
        const ended = once(child, 'message');
        child.send([count, AT_ONCE]);
        await ended;
      }),
    stop: () => stop(child),
  };
};
