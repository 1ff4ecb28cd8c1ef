import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Readable, Transform, type Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { settlesWithin } from '../../../store/base/async.ts';
import { inCgroup, removeCgroup } from './cgroups.ts';
import type { Environment } from './environment.ts';
import { signalGroup } from './execute.ts';
import { removeOnceExited } from './orphans.ts';
import { type Family, familyOf, killRun, type Traces } from './process-tree.ts';
import { RUN_VARIABLE } from './processes.ts';
import { underLimit } from './run-limit.ts';
import type { ProcessRun, Runs } from './runs.ts';
import { type Departure, watchStart } from './start-report.ts';

const TERM_MS = 2000;
const DRAIN_MS = 250;
const TAIL_BYTES = 4096;
const LINE_CHARS = 1 << 20;

export interface ProgramSpec {
  /** The program and its arguments, started without a shell. */
  argv: readonly string[];
  cwd: string;
  env: Environment;
  /** Unique to the run. Record it before starting, so that a restarted daemon can find the processes by it. */
  marker: string;
  /** A directory used by this run only: processes that stay in it after the program has ended are killed. */
  own_dir?: string;
  /** The table that lists it from before its start until its last process has ended. */
  runs: Runs;
  /** Whether it has host loopback; false only in a sandbox with a network namespace of its own. */
  loopback: boolean;
  /** Whether a sandbox with a pid namespace keeps it from the workspace's files; default false. */
  sandboxed?: boolean;
  /**
   * Whether bubblewrap tells descriptor 3 what became of the program. Without an exit code there it was not started, and
   * bubblewrap's own code says nothing of it.
   */
  reports?: boolean;
  /** Idle limit: the program is ended after so long without output. */
  idle_ms?: number;
  /** Time limit of the whole program; time without an idle limit does not count. */
  wall_ms?: number;
  /** Output limit, both streams together. */
  output_bytes?: number;
  /** Called with whole lines of standard output, without their newline; a line beyond 1 MiB arrives in pieces. */
  onLine?: (line: string) => void;
  onBytes?: (chunk: Buffer) => void;
  onErrorBytes?: (chunk: Buffer) => void;
  /** Given the end of stderr of a failed program, returns what it met in the sandbox, as clauses. */
  explain?: (tail: string) => readonly string[];
  /** Closes what belongs to the program, for example its network; `exited` waits for it. */
  close?: () => Promise<void>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last 4 kB of standard error, or the error of a program that could not be started. */
  stderr_tail: string;
  /** What the program met in the sandbox, as clauses. */
  explained?: readonly string[];
  ended_by: 'itself' | 'caller' | 'idle_limit' | 'wall_limit' | 'output_limit' | 'not_started';
}

export interface Program {
  readonly stdin: Writable;
  /** Read by the caller if there is neither `onLine` nor `onBytes`. */
  readonly stdout: Readable;
  /** Never rejects. Settles after every process of the run that can be found has ended. */
  readonly exited: Promise<Exit>;
  /** The last 4 kB of standard error so far. */
  stderr(): string;
  /**
   * Restarts the idle limit with another length. Without one there is no idle limit, and the time does not count towards
   * the time limit unless `counts` is true.
   */
  idle(ms?: number, counts?: boolean): void;
  /** Ends the process tree: SIGTERM, after 2 s SIGKILL, then SIGKILL for every other process of the run. */
  end(): Promise<Exit>;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a program in its own process group with the run marker in its environment. */
export const startProgram = (spec: ProgramSpec): Program => {
  const env = { ...spec.env, [RUN_VARIABLE]: spec.marker };
  const [file = '', ...args] = ofRun(spec, env);
  const run = enter(spec);
  const child: Child = spawn(file, args, {
    cwd: spec.cwd,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(spec.reports === true ? ['pipe' as const] : [])],
  });
  // Ignore EPIPE: the exit of the program tells why it closed its input.
  child.stdin.on('error', () => undefined);

  const gone = departure(child);
  const wasStarted = watchStart(child);
  const stop = stopper(child, gone, spec.marker);
  const limits = watchLimits(spec, (by) => void stop.now(by));
  const stdout = metered(child.stdout, limits.count);
  const stderr = metered(child.stderr, limits.count);
  const tail = keepTail(stderr, spec.onErrorBytes);
  listen(stdout, spec);

  // Without a listener, unread output stays in the pipe for its reader; do not wait for it.
  const heard = spec.onLine ?? spec.onBytes;
  const drained = Promise.all([finished(stderr), heard ? finished(stdout) : once(child, 'close')]);
  drained.catch(() => undefined);
  const exited = gone.then(async (exit): Promise<Exit> => {
    limits.end();
    await settlesWithin(drained, DRAIN_MS);
    const traces = tracesOf(spec, child, stop.family);
    await clearRun(spec, run, traces);
    const { code, signal, error } = exit;
    const isStarted = stop.by !== 'itself' || (await wasStarted(exit));
    const ended_by = isStarted ? stop.by : 'not_started';
    const isFailure = code !== 0 && ended_by === 'itself';
    const explained = isFailure ? (spec.explain?.(tail()) ?? []).slice(0, 2) : [];
    const stderr_tail = error?.message ?? tail();
    return { code, signal, ended_by, stderr_tail, ...(explained.length > 0 && { explained }) };
  });
  const end = async (): Promise<Exit> => {
    await stop.now('caller');
    return exited;
  };
  return { stdin: child.stdin, stdout, stderr: tail, exited, idle: limits.idle, end };
};

/** The argument vector with the traces of its run. A missing program is not wrapped, so that spawn reports it. */
export const ofRun = (
  { argv, marker, sandboxed = false }: Pick<ProgramSpec, 'argv' | 'marker' | 'sandboxed'>,
  env: Environment,
): readonly string[] => {
  const limited = underLimit(argv, marker, env);
  return limited === argv ? argv : inCgroup(marker, limited, { namespaced: sandboxed });
};

/** Lists a program in the table of runs. Throws if it must not start. */
export const enter = ({ runs, marker, own_dir, loopback, sandboxed = false }: Listed): ProcessRun =>
  runs.enter({ marker, loopback, sandboxed, ...(own_dir !== undefined && { dir: own_dir }) });

/** Kills the remaining processes of a run, then removes the run from the table and closes its resources. */
export const clearRun = async (
  { marker, runs, close }: Pick<ProgramSpec, 'marker' | 'runs' | 'close'>,
  run: ProcessRun,
  traces: Traces,
): Promise<void> => {
  await killRun(marker, traces);
  await removeOnceExited(runs, run, traces);
  await removeCgroup(marker);
  await close?.();
};

type Listed = Pick<ProgramSpec, 'runs' | 'marker' | 'own_dir' | 'loopback' | 'sandboxed'>;

// 'exit', not 'close': a grandchild that keeps the pipe open would delay 'close' for ever.
const departure = (child: Child): Promise<Departure> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });

const tracesOf = (
  { own_dir, sandboxed = false }: ProgramSpec,
  { pid }: Child,
  { members, groups }: Family,
): Traces => ({
  family: { members, groups: [...groups, ...(pid === undefined ? [] : [pid])] },
  namespaced: sandboxed,
  ...(own_dir !== undefined && { dir: own_dir }),
});

interface Stopper {
  by: Exit['ended_by'];
  family: Family;
  now(by: Exit['ended_by']): Promise<void>;
}

const stopper = (child: Child, gone: Promise<Departure>, marker: string): Stopper => {
  let stopping: Promise<void> | undefined;
  const stop: Stopper = {
    by: 'itself',
    family: { members: [], groups: [] },
    now: (by) => {
      stopping ??= (async () => {
        if (hasLeft(child)) return;
        stop.by = by;
        stop.family = await familyOf(marker, child.pid ?? 0);
        child.stdin.end();
        signalGroupOf(child, 'SIGTERM');
        if (!(await settlesWithin(gone, TERM_MS))) signalGroupOf(child, 'SIGKILL');
      })();
      return stopping;
    },
  };
  return stop;
};

const hasLeft = (child: Child): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

// The pid of the leader is surely that of the group only while the leader lives.
const signalGroupOf = (child: Child, signal: NodeJS.Signals): void => {
  if (child.pid === undefined || hasLeft(child)) return;
  signalGroup(child.pid, signal);
};

const watchLimits = (
  spec: ProgramSpec,
  exceeded: (by: 'idle_limit' | 'wall_limit' | 'output_limit') => void,
) => {
  let limit = spec.idle_ms;
  let timer: NodeJS.Timeout | undefined;
  let bytes = 0;
  const wind = (): void => {
    clearTimeout(timer);
    if (limit !== undefined) timer = setTimeout(() => exceeded('idle_limit'), limit);
  };
  wind();
  const wall = watchWall(spec.wall_ms, () => exceeded('wall_limit'));
  return {
    end: (): void => {
      clearTimeout(timer);
      limit = undefined;
      wall.pause();
    },
    idle: (ms?: number, counts = false): void => {
      limit = ms;
      wind();
      if (ms === undefined && !counts) wall.pause();
      else wall.go();
    },
    count: (chunk: Buffer): boolean => {
      wind();
      bytes += chunk.length;
      const within_cap = bytes <= (spec.output_bytes ?? Number.POSITIVE_INFINITY);
      if (!within_cap) exceeded('output_limit');
      return within_cap;
    },
  };
};

const watchWall = (wall_ms: number | undefined, exceeded: () => void) => {
  let left = wall_ms;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  const pause = (): void => {
    if (timer === undefined || left === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    left -= performance.now() - since;
  };
  const go = (): void => {
    if (timer !== undefined || left === undefined) return;
    since = performance.now();
    timer = setTimeout(exceeded, Math.max(0, left));
  };
  go();
  return { pause, go };
};

const metered = (source: Readable, count: (chunk: Buffer) => boolean): Readable => {
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, count(chunk) ? chunk : undefined);
    },
  });
  // A broken pipe ends the output; the exit code tells why.
  pipeline(source, meter).catch(() => meter.end());
  return meter;
};

const keepTail = (stream: Readable, tell?: (chunk: Buffer) => void): (() => string) => {
  let tail = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    tell?.(chunk);
  });
  return () => tail.toString('utf8');
};

const listen = (stdout: Readable, { onBytes, onLine }: ProgramSpec): void => {
  if (onBytes !== undefined) stdout.on('data', onBytes);
  if (onLine === undefined) return;
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (rest.length < LINE_CHARS) return;
    onLine(rest);
    rest = '';
  });
  stdout.on('end', () => {
    rest += decoder.end();
    if (rest !== '') onLine(rest);
  });
};
