import { readdirSync, readFileSync } from 'node:fs';

const NS_PER_MS = 1e6;
const TICKS_PER_S = 100;

/**
 * CPU time of a process so far, in milliseconds: of its threads by the scheduler's clock, in nanoseconds. Threads that have
 * ended are only in the process's own figure, in ticks of 10 ms: it is returned where it is the larger one.
 */
export const cpuOf = (pid: number): number => Math.max(threadsCpu(pid), ticksOf(`${pid}`, 11));

/** What a process' first thread had of a CPU so far, and how long it waited for one, in milliseconds. */
export const mainThreadOf = (pid: number): { cpu: number; waited: number } => {
  const [cpu, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ');
  return { cpu: Number(cpu) / NS_PER_MS, waited: Number(waited) / NS_PER_MS };
};

const threadsCpu = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => schedstatOf(`/proc/${pid}/task/${thread}/schedstat`))
    .reduce((sum, ns) => sum + ns, 0) / NS_PER_MS;

// The first field: nanoseconds on a CPU. Absent in a kernel without scheduler statistics, or when the thread has ended.
const schedstatOf = (path: string): number => {
  try {
    return Number(readFileSync(path, 'latin1').split(' ')[0]);
  } catch {
    return 0;
  }
};

/** CPU time of all programs that this process started and saw end, in milliseconds: in ticks of 10 ms. */
export const childrenCpu = (): number => ticksOf('self', 13);

const ticksOf = (process: string, at: number): number => {
  const stat = readFileSync(`/proc/${process}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[at]) + Number(fields[at + 1])) * 1000) / TICKS_PER_S;
};

/** Resident memory of a process, in MB. */
export const memoryOf = (pid: number): number => statusOf(pid, 'VmRSS');

/** The most resident memory that a process had, in MB. */
export const peakOf = (pid: number): number => statusOf(pid, 'VmHWM');

const statusOf = (pid: number, field: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
};
