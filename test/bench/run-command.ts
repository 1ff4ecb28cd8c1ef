import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface Cost {
  ms: number;
  cpu_ms: number;
}

interface Surroundings {
  cwd?: string;
  env?: Readonly<Record<string, string | undefined>>;
}

// bash reports both to the millisecond; /proc counts the CPU time of a program that has ended in ticks of 10 ms.
const TIME = 'TIMEFORMAT="%3R %3U %3S"; time { "$@" >/dev/null 2>&1; }';

/** Runs a program to its end, and returns its cost with that of its children. Throws where its exit code is not 0. */
export const costOf = async (
  command: readonly string[],
  { cwd, env = process.env }: Surroundings = {},
): Promise<Cost> => {
  const child = spawn('bash', ['-c', TIME, 'bash', ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A decimal point, in every country.
    env: { ...env, LC_ALL: 'C' },
    ...(cwd !== undefined && { cwd }),
  });
  const [times, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${command.slice(0, 3).join(' ')} ended with ${code}`);
  const [real = 0, user = 0, system = 0] = times.trim().split(' ').map(Number);
  return { ms: real * 1000, cpu_ms: (user + system) * 1000 };
};

/** A program of Node, as `node -e`. */
export const nodeCost = (script: string, ...args: string[]): Promise<Cost> =>
  costOf([process.execPath, '-e', script, ...args]);
