import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server in a process of its own, so that its CPU time is its own. */
export interface ServerProcess {
  url: string;
  pid: number;
  /** From the start of the process until it said where it listens, in milliseconds. */
  ready_ms: number;
  stop(): Promise<void>;
}

export const DOSSIER = fileURLToPath(new URL('../../dossier.js', import.meta.url));
export const BARE = fileURLToPath(new URL('./bare.js', import.meta.url));

/** Starts a program that prints a line with its URL. */
export const startServer = async (script: string, args: string[]): Promise<ServerProcess> => {
  const command = script === DOSSIER ? ['serve'] : [];
  const from = performance.now();
  const child = spawn(process.execPath, [script, ...command, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const url = await urlOf(child);
  return {
    url,
    pid: child.pid ?? 0,
    ready_ms: performance.now() - from,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
};

/** The URL that a program says it listens at. Throws when it ends without. */
export const urlOf = async (child: ChildProcess): Promise<string> => {
  const ended = once(child, 'exit').then(() => {
    throw new Error('The server ended before it said where it listens');
  });
  const found = (async () => {
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
      if (url !== null) return url[0];
    }
    return ended;
  })();
  ended.catch(() => undefined);
  return Promise.race([found, ended]);
};

const TICKS_PER_S = 100;

/** User and system time of a process so far, in milliseconds. */
export const cpuOf = (pid: number): number => timesOf(`${pid}`, 11);

/** The same of all programs that this process has started and seen end. */
export const childrenCpu = (): number => timesOf('self', 13);

const timesOf = (process: string, at: number): number => {
  const stat = readFileSync(`/proc/${process}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[at]) + Number(fields[at + 1])) * 1000) / TICKS_PER_S;
};

/** Resident memory of a process, in MB. */
export const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
