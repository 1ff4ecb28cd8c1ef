import { Pool } from 'undici';
import type { ServerProcess } from './processes.ts';
import { cpuOf } from './usage.ts';

export interface Load {
  per_s: number;
  /** CPU time of the server for one request, in microseconds. */
  cpu_us: number;
}

const CONNECTIONS = 16;

/** Sends `count` requests, a few at a time, and returns how fast the server was and what it cost. */
export const load = async (
  { url, pid }: ServerProcess,
  path: string,
  count: number,
): Promise<Load> => {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const request = async (): Promise<void> => {
    const { statusCode, body } = await pool.request({ method: 'GET', path });
    // Read to its end, however long: else the connection is closed, and the next is what is measured.
    await body.dump({ limit: Number.MAX_SAFE_INTEGER });
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
  };
  await repeat(Math.ceil(count / 4), CONNECTIONS, request);
  const rest = stayAwake();
  try {
    return await costOfEach(pid, count, () => repeat(count, CONNECTIONS, request));
  } finally {
    rest();
    await pool.close();
  }
};

/**
 * Keeps this process from sleeping. To wake its client costs a server 13 µs a request on a virtual machine, and only one that
 * is slower than the client pays that: then its work and the limit's are not the same. Not for writes: their syncs need the
 * other CPU.
 */
const stayAwake = (): (() => void) => {
  let next = setImmediate(function again() {
    next = setImmediate(again);
  });
  return () => clearImmediate(next);
};

/** Does one thing `count` times, some at once. */
export const repeat = async (
  count: number,
  atOnce: number,
  work: () => Promise<void>,
): Promise<void> => {
  let left = count;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
};

/** What `count` things cost a process. */
export const costOfEach = async (
  pid: number,
  count: number,
  work: () => Promise<void>,
): Promise<Load> => {
  const [from, cpu] = [performance.now(), cpuOf(pid)];
  await work();
  const ms = performance.now() - from;
  return { per_s: (count * 1000) / ms, cpu_us: ((cpuOf(pid) - cpu) * 1000) / count };
};
