import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuOf } from './usage.ts';

const LOOK_AGAIN_MS = 250;
// Of that time: its timers take less.
const IDLE_CPU_MS = 5;

/** Resolves when a daemon watches so many directories, and has nothing more to do. */
export const watchEnough = async (pid: number, count: number): Promise<void> => {
  for (let before = Number.NaN; ; ) {
    const cpu = cpuOf(pid);
    if (cpu - before < IDLE_CPU_MS && watchesOf(pid) >= count) return;
    before = cpu;
    await delay(LOOK_AGAIN_MS);
  }
};

/** The inotify watches of a process, as the kernel counts them. */
export const watchesOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fdinfo`)
    .map((fd) => watchesIn(`/proc/${pid}/fdinfo/${fd}`))
    .reduce((sum, count) => sum + count, 0);

const watchesIn = (path: string): number => {
  try {
    return readFileSync(path, 'utf8').match(/^inotify /gm)?.length ?? 0;
  } catch {
    // Closed meanwhile.
    return 0;
  }
};
