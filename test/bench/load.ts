import { Pool } from 'undici';
import { cpuOf, type ServerProcess } from './processes.ts';

export interface Load {
  per_s: number;
  /** CPU time of the server for one request, in microseconds. */
  cpu_us: number;
}

const CONNECTIONS = 16;

/** Sends `count` requests, a few at a time, and says how fast the server was and what it cost. */
export const load = async (
  { url, pid }: ServerProcess,
  path: string,
  count: number,
  headers: Record<string, string> = {},
): Promise<Load> => {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const many = (left: number) => ask(pool, { path, headers }, left);
  await many(Math.ceil(count / 4));
  const [from, cpu] = [performance.now(), cpuOf(pid)];
  await many(count);
  const result = {
    per_s: (count * 1000) / (performance.now() - from),
    cpu_us: ((cpuOf(pid) - cpu) * 1000) / count,
  };
  await pool.close();
  return result;
};

interface Asked {
  path: string;
  headers: Record<string, string>;
}

const ask = async (pool: Pool, { path, headers }: Asked, count: number): Promise<void> => {
  let left = count;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
      // Read to its end, however long: else the connection is closed, and the next is what is measured.
      await body.dump({ limit: Number.MAX_SAFE_INTEGER });
      if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
};

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Measures two things in turn, so that a machine whose speed drifts treats both alike. */
export const alternate = async <T>(
  rounds: number,
  a: () => Promise<T>,
  b: () => Promise<T>,
): Promise<[T[], T[]]> => {
  const results: [T[], T[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    results[0].push(await a());
    results[1].push(await b());
  }
  return results;
};
