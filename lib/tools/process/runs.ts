import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readProcess, ticksNow } from './processes.ts';

/** A program that the daemon starts, and the traces of its processes. */
interface NewRun {
  /** Set in the environment of each of its processes. */
  marker: string;
  /** A directory used by this run only. */
  dir?: string;
  /** Whether it has host loopback, and so can reach the API. */
  loopback: boolean;
  /** Whether a sandbox keeps it from the workspace's files; then no process outlives it unseen. */
  sandboxed: boolean;
}

export interface ProcessRun extends NewRun {
  /** When it started, in clock ticks since boot; 0 without /proc. */
  readonly ticks: number;
}

/** Processes that outlive the program of their run. */
export interface LeftProcesses {
  run: ProcessRun;
  /** False if they may belong to another process of the operator. */
  sure: boolean;
  /** Pid and name of each process. */
  processes: string[];
}

/** The programs that the daemon started: providers, setup steps, language servers, probes. */
export interface Runs {
  /** One entry per program, so a marker may occur twice. An entry stays while a process that may belong to it runs. */
  readonly live: ReadonlySet<ProcessRun>;
  /** The process that adopts orphans. */
  readonly reaper: Reaper;
  /** Adds a program before it is started. */
  enter(run: NewRun): ProcessRun;
  /** Removes a program once none of its processes runs. */
  leave(run: ProcessRun): void;
  /**
   * Calls `heard` when a program is added, before it starts, and when one is removed. If `heard` throws for a program that
   * is added, that program does not start.
   */
  follow(heard: () => void): void;
  /** Reports processes that outlived their program to the listeners of `onLeft`. */
  tellLeft(left: LeftProcesses): void;
  /** Returns a function that removes the listener. */
  onLeft(heard: (left: LeftProcesses) => void): () => void;
}

/** Creates the table of running programs. It is in memory: a restarted daemon begins with an empty one. */
export const createRuns = (): Runs => {
  const live = new Set<ProcessRun>();
  const followers: (() => void)[] = [];
  const concerned = new Set<(left: LeftProcesses) => void>();
  const changed = (): void => {
    for (const heard of followers) heard();
  };
  const leave = (run: ProcessRun): void => {
    if (live.delete(run)) changed();
  };
  return {
    live,
    reaper: createReaper(),
    enter: (run) => {
      const entry = { ...run, ticks: ticksNow() ?? 0 };
      live.add(entry);
      try {
        changed();
      } catch (error) {
        leave(entry);
        throw error;
      }
      return entry;
    },
    leave,
    follow: (heard) => {
      followers.push(heard);
    },
    tellLeft: (left) => {
      for (const heard of concerned) heard(left);
    },
    onLeft: (heard) => {
      concerned.add(heard);
      return () => concerned.delete(heard);
    },
  };
};

/** A service with the table of running programs. */
export interface WithRuns {
  readonly runs: Runs;
}

/** The pid of the process that adopts orphans of this one: init, or the nearest subreaper. */
type Reaper = () => Promise<number | undefined>;

/** Finds the reaper on the first call by leaving an orphan, and again once that reaper has ended. Undefined without /proc. */
const createReaper = (): Reaper => {
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
  // The shell has ended, so the orphan now reports its new parent.
  child.once('exit', () => child.stdin.end('go\n'));
  await closed;
  const pid = Number(said.slice(said.lastIndexOf(')') + 2).split(' ')[1]);
  const row = pid > 0 ? readProcess(pid) : undefined;
  return row && { pid, started: row.started };
};

const ORPHAN = 'exec 3<&0; (read -r go <&3; read -r stat </proc/self/stat; echo "$stat") &';
