import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readProcess } from './processes.ts';

/** Who gets the orphans of this process: the init of the machine, or the nearest that asked for it. */
export type Reaper = () => Promise<number | undefined>;

/** Finds it out when first asked, by leaving an orphan, and again once that process is gone. Undefined without /proc. */
export const createReaper = (): Reaper => {
  let known: Promise<{ pid: number; started: number } | undefined> | undefined;
  return async () => {
    const before = await known;
    if (before === undefined || readProcess(before.pid)?.started !== before.started)
      known = findReaper();
    return (await known)?.pid;
  };
};

const findReaper = async (): Promise<{ pid: number; started: number } | undefined> => {
  const child = spawn('/bin/sh', ['-c', ORPHAN], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => undefined);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
  });
  const closed = once(child, 'close').catch(() => undefined);
  // Its parent has gone now: who reads of its parent reads of the new one.
  child.once('exit', () => child.stdin.end('go\n'));
  await closed;
  const pid = Number(said.slice(said.lastIndexOf(')') + 2).split(' ')[1]);
  const row = pid > 0 ? readProcess(pid) : undefined;
  return row && { pid, started: row.started };
};

const ORPHAN = 'exec 3<&0; (read -r go <&3; read -r stat </proc/self/stat; echo "$stat") &';
