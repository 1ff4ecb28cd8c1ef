import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { alternate, median } from './load.ts';
import { DOSSIER, type ServerProcess, startServer } from './processes.ts';
import type { Row } from './report.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 5;
const WRITES = 800;
const AT_ONCE = 8;

/** POST /cases, against a bare loop that makes the same things durable; and with many items against few. */
export const benchWrites = async (): Promise<Row[]> => {
  const [few, many] = [makeWorkspace(100), makeWorkspace(10_000)];
  const start = (root: string) =>
    startServer(DOSSIER, ['--workspace', root, '--port', '0', '--log-level', 'silent']);
  const small = await start(few.root);
  const large = await start(many.root);
  for (const server of [small, large]) await post(server);
  const [posts, floor] = await alternate(ROUNDS, () => post(small), bareWrites);
  const [atMany, atFew] = await alternate(
    ROUNDS,
    () => post(large),
    () => post(small),
  );
  await Promise.all([small.stop(), large.stop()]);
  for (const workspace of [few, many]) workspace.remove();
  const perSecond = (values: number[]) => `${median(values).toFixed(0)}/s`;
  return [
    {
      what: 'POST /cases, 8 at once',
      measured: perSecond(posts),
      limit: `${perSecond(floor)} bare writes`,
      ratio: ratioOf(posts, floor),
      target: '>= 0.4',
    },
    {
      what: 'POST /cases, time at 10,000 items',
      measured: perSecond(atMany),
      limit: `${perSecond(atFew)} at 100 items`,
      ratio: ratioOf(atFew, atMany),
      target: '<= 1.3',
    },
  ];
};

const ratioOf = (a: number[], b: number[]): number =>
  median(a.map((value, round) => value / (b[round] ?? Number.NaN)));

const post = async ({ url }: ServerProcess): Promise<number> => {
  const pool = new Pool(url, { connections: AT_ONCE });
  const body = JSON.stringify({
    title: 'A Work item of the usual size',
    type: 'bug',
    description: 'x'.repeat(600),
  });
  const result = await perSecond(async () => {
    const { statusCode, body: answer } = await pool.request({
      method: 'POST',
      path: '/cases',
      body,
      headers: { 'content-type': 'application/json' },
    });
    await answer.dump();
    if (statusCode !== 201) throw new Error(`POST /cases answered ${statusCode}`);
  });
  await pool.close();
  return result;
};

// What a durable Work item needs at the least: a file in a directory, both synced, renamed into place, its parent synced,
// and a synced line in a log.
const bareWrites = async (): Promise<number> => {
  const root = mkdtempSync(join(tmpdir(), 'dossier-floor-'));
  mkdirSync(join(root, 'tmp'));
  mkdirSync(join(root, 'cases'));
  const log = await open(join(root, 'log'), 'a');
  const text = 'x'.repeat(800);
  const result = await perSecond(async () => {
    const name = randomUUID();
    const temporary = join(root, 'tmp', name);
    mkdirSync(temporary);
    const file = await open(join(temporary, 'case.md'), 'wx');
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await sync(temporary);
    await rename(temporary, join(root, 'cases', name));
    await sync(join(root, 'cases'));
    await log.appendFile(text);
    await log.datasync();
  });
  await log.close();
  rmSync(root, { recursive: true });
  return result;
};

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  await handle.sync();
  await handle.close();
};

const perSecond = async (write: () => Promise<void>): Promise<number> => {
  const from = performance.now();
  let left = WRITES;
  const one = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      await write();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return (WRITES * 1000) / (performance.now() - from);
};
