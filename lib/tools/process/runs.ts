import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readProcess, ticksNow } from './processes.ts';

/** A program of the daemon's, by what its processes are known. */
interface NewRun {
  /** In the environment of each of its processes. */
  marker: string;
  /** A directory that is this run's alone. */
  dir?: string;
  /** Whether it has the machine's loopback, and with it the way to the API. */
  loopback: boolean;
  /** Whether a sandbox keeps it from the workspace's files; nothing outlives it unseen then. */
  sandboxed: boolean;
}

export interface ProcessRun extends NewRun {
  /** Milliseconds since the epoch. */
  readonly started_at: number;
  /** The same in clock ticks since the machine started, as processes are stamped; 0 where there is no /proc. */
  readonly ticks: number;
}

/** What is left of a run whose program has ended: known to be of it, or perhaps. */
export interface LeftProcesses {
  run: ProcessRun;
  sure: boolean;
  /** Number and name of each process. */
  processes: string[];
}

/** Every program that the daemon started for a provider, a set-up, a language server, a probe or a try-out. */
export interface Runs {
  /** One entry a program, so one marker may be there twice. It stays while something that may be of it is alive. */
  readonly live: ReadonlySet<ProcessRun>;
  /** Who gets the orphans of what is started. */
  readonly reaper: Reaper;
  /** Puts a program in, before it is started. */
  enter(run: NewRun): ProcessRun;
  /** Takes it out, once nothing of it is alive. */
  leave(run: ProcessRun): void;
  /**
   * Calls `heard` whenever one was put in, before it is started, and whenever one was taken out. Where it throws of one
   * that was put in, that one does not start.
   */
  follow(heard: () => void): void;
  /** Says that something outlived its program, to whoever asked with `onLeft`. */
  tellLeft(left: LeftProcesses): void;
  /** Answers how to hear no more. */
  onLeft(heard: (left: LeftProcesses) => void): () => void;
}

/** The table of what runs. In memory: a restarted daemon begins with an empty one. */
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
      const entry = { ...run, started_at: Date.now(), ticks: ticksNow() ?? 0 };
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

/** Every program of a run that is alive, whatever it was started for. */
export interface WithRuns {
  readonly runs: Runs;
}

/** Who gets the orphans of this process: the init of the machine, or the nearest that asked for it. */
type Reaper = () => Promise<number | undefined>;

/** Finds it out when first asked, by leaving an orphan, and again once that process is gone. Undefined without /proc. */
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
  // Its parent has gone now: who reads of its parent reads of the new one.
  child.once('exit', () => child.stdin.end('go\n'));
  await closed;
  const pid = Number(said.slice(said.lastIndexOf(')') + 2).split(' ')[1]);
  const row = pid > 0 ? readProcess(pid) : undefined;
  return row && { pid, started: row.started };
};

const ORPHAN = 'exec 3<&0; (read -r go <&3; read -r stat </proc/self/stat; echo "$stat") &';
