import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Doors, McpPort, RunEvents, RunTask } from './doors.ts';
import type { AnswerMcp } from './mcp-door.ts';
import type { NetworkNews } from './proxy.ts';
import type { Source } from './upstream.ts';

/** Undefined: the message was refused. */
export type McpAnswer = Awaited<ReturnType<AnswerMcp>> | undefined;

/** Messages of the daemon to the process, and its reports. Runs have numbers. */
export type DoorsOrder =
  | { kind: 'open'; run: number; task: RunTask; ownPort: number | undefined }
  | { kind: 'port'; run: number; token: string }
  | { kind: 'close'; run: number }
  | { kind: 'answer'; call: number; answer: McpAnswer };
export type DoorsReport =
  | { kind: 'told'; run: number; told: NetworkNews }
  | { kind: 'port'; run: number; port: number }
  | { kind: 'lost'; run: number; reason: string }
  | { kind: 'closed'; run: number }
  | McpCall;

interface McpCall extends Record<'run' | 'call', number> {
  kind: 'mcp';
  token: string | undefined;
  body: unknown;
  version: string | undefined;
}

interface OpenRun extends Omit<RunEvents, 'tell'> {
  tell?: RunEvents['tell'];
  opened?: (port: number) => void;
  /** Set while the run closes: reports are still accepted, MCP messages are refused. */
  left?: () => void;
}

// Next to this file when compiled, and next to its chunk when bundled.
const CHILD = fileURLToPath(new URL('./doors-child.js', import.meta.url));
// Enough for many runs at once. Running out of memory ends only this process.
const MOST_MEMORY = ['--max-old-space-size=256'];
/** Variables for TLS to the operator's proxy, name resolution, and the start of Node. */
const FILES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'];
const OTHERS = [
  ...['SSL_CERT_DIR', 'NODE_USE_SYSTEM_CA', 'RES_OPTIONS', 'LOCALDOMAIN', 'HOSTALIASES'],
  ...['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'],
];
const STORE_OPTION = /^--use-(?:openssl|system|bundled)-ca$/;
// A process that is suspended, or that a flood keeps busy, would keep a run from ending.
const ANSWER_MS = 15_000;
const AGAIN_MS = 1000;
const UNANSWERED = 'It did not answer for 15 s and was killed';
// Kept for the next program of a run.
const LINGER_MS = 10_000;

interface DoorsProcessOptions {
  /** The daemon's own environment. */
  env: Source;
  /** The port of the daemon's API, once it listens. */
  ownPort: () => number | undefined;
  /** Called if the process ends unexpectedly. */
  ended: (cause: Error) => void;
  /** Replaces `fork` in tests. */
  start?: (file: string, options: ForkOptions) => ChildProcess;
}

/**
 * Accepts the connections of runs in a process of its own, so that their traffic does not delay the daemon. A thread would
 * not do: it shares locks of Node with the main thread, which waits if the holder gets no CPU. The process exists while a run
 * uses it, and 10 s longer. If it ends unexpectedly, or is killed because it does not answer, current runs lose their network; the
 * next run starts another process.
 */
export const createDoorsProcess = ({
  env,
  ownPort,
  ended,
  start = (file, options) => fork(file, options),
}: DoorsProcessOptions): Doors => {
  const runs = new Map<number, OpenRun>();
  let lastRun = 0;
  const child = createChild(runs, {
    start: () => start(CHILD, optionsFor(env)),
    ended: (cause) => {
      const lost = [...runs.values()];
      runs.clear();
      ended(cause);
      for (const run of lost)
        if (run.left === undefined) run.lost('the proxy process ended');
        else run.left();
    },
  });
  const enter = (run: OpenRun): number => {
    lastRun += 1;
    runs.set(lastRun, run);
    return lastRun;
  };
  const leave = async (run: number): Promise<void> => {
    const leaving = runs.get(run);
    if (leaving === undefined || leaving.left !== undefined) return;
    const left = new Promise<void>((resolve) => {
      leaving.left = resolve;
    });
    child.order({ kind: 'close', run });
    await left.finally(child.hold());
    runs.delete(run);
    if (runs.size === 0) child.rest();
  };
  return {
    prepare: () => {
      if (runs.size === 0) child.prepare();
    },
    open: (task, events) => {
      const run = enter(events);
      child.order({ kind: 'open', run, task, ownPort: ownPort() });
      return () => leave(run);
    },
    openPort: (token, mcp) => {
      const opened = new Promise<McpPort>((resolve, reject) => {
        const run = enter({
          mcp,
          opened: (port) => resolve({ port, close: () => void leave(run) }),
          lost: (reason) => reject(new Error(`No port for MCP: ${reason}`)),
        });
        child.order({ kind: 'port', run, token });
      });
      return opened.finally(child.hold());
    },
  };
};

// In the daemon's session, because Linux compares priorities only within one, and in no directory of a run.
const optionsFor = (env: Source): ForkOptions => ({
  cwd: '/',
  env: Object.fromEntries([
    ...FILES.flatMap((name) => (env[name] ? [[name, resolve(env[name])]] : [])),
    ...OTHERS.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  ]),
  execArgv: [...MOST_MEMORY, ...nodeOptions(env).filter((option) => STORE_OPTION.test(option))],
  serialization: 'advanced',
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
});

const nodeOptions = ({ NODE_OPTIONS = '' }: Source): string[] => [
  ...process.execArgv,
  ...NODE_OPTIONS.split(' '),
];

interface ChildOptions {
  start: () => ChildProcess;
  ended: (cause: Error) => void;
}

/** The child process, started by the first order or before it. */
const createChild = (runs: ReadonlyMap<number, OpenRun>, { start, ended }: ChildOptions) => {
  let child: ChildProcess | undefined;
  let linger: NodeJS.Timeout | undefined;
  let holders = 0;
  const begin = (): ChildProcess => {
    const started = start();
    const end = (cause: Error): void => {
      if (child !== started) return;
      child = undefined;
      ended(cause);
    };
    started.on('error', end);
    started.once('exit', (code, signal) => {
      const cause = new Error(started.killed ? UNANSWERED : `It ended with ${signal ?? code}`);
      // Its last reports may arrive after the exit event.
      if (started.connected) started.once('disconnect', () => end(cause));
      else end(cause);
    });
    started.on('message', (report: DoorsReport) => hear(started, runs.get(report.run), report));
    started.unref();
    started.channel?.unref();
    return started;
  };
  /** Ends the process after 10 s without an order. */
  const rest = (): void => {
    clearTimeout(linger);
    linger = setTimeout(() => {
      kill(child);
      child = undefined;
    }, LINGER_MS).unref();
  };
  return {
    prepare: (): void => {
      child ??= begin();
      rest();
    },
    order: (order: DoorsOrder): void => {
      clearTimeout(linger);
      child ??= begin();
      send(child, order);
    },
    /** Keeps the daemon alive for the answer of the process until the returned function is called; 15 s later it is killed. */
    hold: (): (() => void) => {
      const answered = killUnlessAnswered(child);
      holders += 1;
      child?.channel?.ref();
      return () => {
        answered();
        holders -= 1;
        if (holders === 0) child?.channel?.unref();
      };
    },
    rest,
  };
};

/** Kills the process after ANSWER_MS, unless what is returned is called before. */
const killUnlessAnswered = (child: ChildProcess | undefined): (() => void) => {
  // What came while the daemon itself was suspended is read before the second timer fires.
  let timer = setTimeout(() => {
    timer = setTimeout(kill, AGAIN_MS, child);
  }, ANSWER_MS);
  return () => clearTimeout(timer);
};

const kill = (child: ChildProcess | undefined): void => {
  // Its channel closes before its exit is heard.
  child?.ref();
  child?.kill('SIGKILL');
};

// The exit of the process is handled elsewhere.
const send = (child: ChildProcess, order: DoorsOrder): void => {
  if (child.connected) child.send(order, () => undefined);
};

const hear = (child: ChildProcess, run: OpenRun | undefined, report: DoorsReport): void => {
  if (report.kind === 'told') run?.tell?.(report.told);
  if (report.kind === 'port') run?.opened?.(report.port);
  if (report.kind === 'lost') run?.lost(report.reason);
  if (report.kind === 'closed') run?.left?.();
  if (report.kind === 'mcp') void answerCall(child, run, report);
};

const answerCall = async (
  child: ChildProcess,
  run: OpenRun | undefined,
  { call, token, body, version }: McpCall,
): Promise<void> => {
  const asked =
    run === undefined || run.left !== undefined
      ? Promise.resolve({ status: 401, body: undefined })
      : run.mcp(token, body, version);
  const answer = await asked.catch(() => undefined);
  send(child, { kind: 'answer', call, answer });
};
