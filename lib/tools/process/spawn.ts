import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Readable, Transform, type Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { settlesWithin } from '../../../store/base/within.ts';
import { inCgroup, removeCgroup } from './cgroups.ts';
import type { Environment } from './environment.ts';
import { leaveOnceGone } from './orphans.ts';
import { type Family, familyOf, killRun, type Traces } from './process-tree.ts';
import { RUN_VARIABLE } from './processes.ts';
import { underLimit } from './run-limit.ts';
import type { ProcessRun, Runs } from './runs.ts';

const TERM_MS = 2000;
const DRAIN_MS = 250;
const TAIL_BYTES = 4096;
const LINE_CHARS = 1 << 20;

export interface ProgramSpec {
  /** The program and its arguments; no shell ever sees them. */
  argv: readonly string[];
  cwd: string;
  env: Environment;
  /** Unique to the run; write it down before starting, so that a restarted daemon can sweep by it. */
  marker: string;
  /** A directory that is this run's alone: what stays in it when the program has gone is ended, too. */
  own_dir?: string;
  /** Where it is entered from before its start until nothing of it is alive. */
  runs: Runs;
  /** Whether it has the machine's loopback: only a sandbox with a network of its own takes that away. */
  loopback: boolean;
  /** Whether a sandbox keeps it from the workspace's files; false where nobody says so. */
  sandboxed?: boolean;
  /** The program is ended when it writes nothing for so long. */
  idle_ms?: number;
  /** The program is ended when it goes on for so long, the time not counted in which it may be silent for ever. */
  wall_ms?: number;
  /** The program is ended when it has written more, both streams together. */
  output_bytes?: number;
  /** Whole lines of standard output, without their end; a line beyond 1 MiB arrives in pieces. */
  onLine?: (line: string) => void;
  onBytes?: (chunk: Buffer) => void;
  onErrorBytes?: (chunk: Buffer) => void;
  /** Asked for what was out of sight, with the last words of a program that failed by itself. */
  unseen?: (tail: string) => readonly string[];
  /** What ends with it: `exited` waits for that. */
  close?: () => Promise<void>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last 4 kB of standard error, or why the program could not be started. */
  stderr_tail: string;
  /** Paths in its last words that are there, and that the sandbox does not show. */
  unseen?: readonly string[];
  ended_by: 'itself' | 'caller' | 'idle_limit' | 'wall_limit' | 'output_limit' | 'not_started';
}

export interface Program {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  /** For the caller to read when there is neither `onLine` nor `onBytes`. */
  readonly stdout: Readable;
  /** Never rejects. When it has settled, no process of the run is alive that can be found and ended. */
  readonly exited: Promise<Exit>;
  /** The last 4 kB of standard error so far. */
  stderr(): string;
  /**
   * Starts the idle limit anew with another length; without one the program may be silent for ever, and its whole time
   * is not counted unless `counts` says so.
   */
  idle(ms?: number, counts?: boolean): void;
  /** Ends the whole process tree: SIGTERM, after 2 s SIGKILL, then whatever still carries the marker. */
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
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A program that closes its input early says so by its exit, not by EPIPE.
  child.stdin.on('error', () => undefined);

  const gone = departure(child);
  const stop = stopper(child, gone, spec.marker);
  const limits = watchLimits(spec, (by) => void stop.now(by));
  const stdout = metered(child.stdout, limits.count);
  const stderr = metered(child.stderr, limits.count);
  const tail = keepTail(stderr, spec.onErrorBytes);
  listen(stdout, spec);

  // Unread output of a raw pipe stays for its reader, and holds nothing up.
  const heard = spec.onLine ?? spec.onBytes;
  const drained = Promise.all([finished(stderr), heard ? finished(stdout) : once(child, 'close')]);
  drained.catch(() => undefined);
  const exited = gone.then(async (exit): Promise<Exit> => {
    limits.end();
    await settlesWithin(drained, DRAIN_MS);
    const traces = tracesOf(spec, child, stop.family);
    await killRun(spec.marker, traces);
    await leaveOnceGone(spec.runs, run, traces);
    await removeCgroup(spec.marker);
    await spec.close?.();
    const { code, signal, error } = exit;
    const ended_by = error === undefined ? stop.by : 'not_started';
    const unseen = code === 0 || ended_by !== 'itself' ? [] : (spec.unseen?.(tail()) ?? []);
    const last = { stderr_tail: error?.message ?? tail(), ...(unseen.length > 0 && { unseen }) };
    return { code, signal, ended_by, ...last };
  });
  const end = async (): Promise<Exit> => {
    await stop.now('caller');
    return exited;
  };
  const streams = { pid: child.pid, stdin: child.stdin, stdout, stderr: tail };
  return { ...streams, exited, idle: limits.idle, end };
};

// Not for a program that is not there: whoever starts it says so.
const ofRun = ({ argv, marker }: ProgramSpec, env: Environment): readonly string[] => {
  const limited = underLimit(argv, marker, env);
  return limited === argv ? argv : inCgroup(marker, limited);
};

const enter = ({ runs, marker, own_dir, loopback, sandboxed = false }: ProgramSpec): ProcessRun =>
  runs.enter({ marker, loopback, sandboxed, ...(own_dir !== undefined && { dir: own_dir }) });

interface Departure {
  code: number | null;
  signal: NodeJS.Signals | null;
  error?: Error;
}

// 'exit', not 'close': a grandchild that keeps the pipe open would hold 'close' back for ever.
const departure = (child: Child): Promise<Departure> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });

const tracesOf = (
  { own_dir }: ProgramSpec,
  { pid }: Child,
  { members, groups }: Family,
): Traces => ({
  family: { members, groups: [...groups, ...(pid === undefined ? [] : [pid])] },
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
        signalGroup(child, 'SIGTERM');
        if (!(await settlesWithin(gone, TERM_MS))) signalGroup(child, 'SIGKILL');
      })();
      return stopping;
    },
  };
  return stop;
};

const hasLeft = (child: Child): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

// Only while the leader is there is its number surely that of our group.
const signalGroup = (child: Child, signal: NodeJS.Signals): void => {
  if (child.pid === undefined || hasLeft(child)) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Gone in this very moment.
  }
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
  // A broken pipe is the end of the output; the exit code tells the rest.
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
