import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Doors, McpPort, RunEvents, RunTask } from './doors.ts';
import type { AnswerMcp } from './mcp-door.ts';
import type { NetworkNews } from './proxy.ts';

type McpAnswer = Awaited<ReturnType<AnswerMcp>>;

/** What the serving thread is told, and what it reports. A run is a number of this process. */
export type DoorsOrder =
  | { kind: 'open'; run: number; task: RunTask; ownPort: number | undefined }
  | { kind: 'port'; run: number; token: string }
  | { kind: 'close'; run: number }
  | { kind: 'answer'; call: number; answer: McpAnswer | undefined };
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
  /** It is about to leave: what it has asked before is still told, nothing is answered any more. */
  left?: () => void;
}

// Beside this file when compiled, and beside the chunk that this file is in when bundled.
const WORKER = new URL('./doors-worker.js', import.meta.url);
// Connections of many runs at once take less; a thread that is out of memory ends alone.
const OPTIONS: WorkerOptions = {
  ...{ env: {}, execArgv: [] },
  resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 },
};
// The programs of a run come one after the other.
const LINGER_MS = 10_000;

interface DoorsThreadOptions {
  /** The port of the daemon's own API, once there is one. */
  ownPort: () => number | undefined;
  /** Is told when the thread ended by itself. */
  ended: (cause: unknown) => void;
  /** Another way to start it, for tests. */
  start?: (file: URL, options: WorkerOptions) => Worker;
}

/**
 * Doors that a thread of their own serves, so that nothing that a run sends delays the daemon. The thread is there while a run
 * has doors, and a moment longer. If it ends by itself, the runs of that moment have lost their network; the next run starts
 * another thread.
 */
export const createDoorsThread = ({ ownPort, ended, ...more }: DoorsThreadOptions): Doors => {
  const runs = new Map<number, OpenRun>();
  let lastRun = 0;
  const thread = createThread(runs, {
    start: (file, options) => new Worker(file, options),
    ...more,
    ended: (cause) => {
      const lost = [...runs.values()];
      runs.clear();
      ended(cause);
      for (const run of lost)
        if (run.left === undefined) run.lost('the thread of the proxy ended');
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
    thread.order({ kind: 'close', run });
    await left.finally(thread.hold());
    runs.delete(run);
    if (runs.size === 0) thread.rest();
  };
  return {
    open: (task, events) => {
      const run = enter(events);
      thread.order({ kind: 'open', run, task, ownPort: ownPort() });
      return () => leave(run);
    },
    openPort: (token, mcp) => {
      const opened = new Promise<McpPort>((resolve, reject) => {
        const run = enter({
          mcp,
          opened: (port) => resolve({ port, close: () => void leave(run) }),
          lost: (reason) => reject(new Error(`No port for MCP: ${reason}`)),
        });
        thread.order({ kind: 'port', run, token });
      });
      return opened.finally(thread.hold());
    },
  };
};

/** The thread, which is started by its first order. */
const createThread = (
  runs: ReadonlyMap<number, OpenRun>,
  { ended, start }: Required<Omit<DoorsThreadOptions, 'ownPort'>>,
) => {
  let worker: Worker | undefined;
  let linger: NodeJS.Timeout | undefined;
  let holders = 0;
  const begin = (): Worker => {
    const started = start(WORKER, OPTIONS);
    let crash: unknown;
    started.on('error', (error) => {
      crash = error;
    });
    started.once('exit', () => {
      if (worker !== started) return;
      worker = undefined;
      ended(crash);
    });
    started.on('message', (report: DoorsReport) => hear(started, runs.get(report.run), report));
    started.unref();
    return started;
  };
  return {
    order: (order: DoorsOrder): void => {
      clearTimeout(linger);
      worker ??= begin();
      worker.postMessage(order);
    },
    /** Until the returned function is called, the process waits for the thread before it ends. */
    hold: (): (() => void) => {
      holders += 1;
      worker?.ref();
      return () => {
        holders -= 1;
        if (holders === 0) worker?.unref();
      };
    },
    /** Ends it, unless an order comes first. */
    rest: (): void => {
      clearTimeout(linger);
      linger = setTimeout(() => {
        const last = worker;
        worker = undefined;
        void last?.terminate();
      }, LINGER_MS).unref();
    },
  };
};

const hear = (worker: Worker, run: OpenRun | undefined, report: DoorsReport): void => {
  if (report.kind === 'told') run?.tell?.(report.told);
  if (report.kind === 'port') run?.opened?.(report.port);
  if (report.kind === 'lost') run?.lost(report.reason);
  if (report.kind === 'closed') run?.left?.();
  if (report.kind === 'mcp') void answerCall(worker, run, report);
};

// A call of a run that leaves is one of nobody.
const answerCall = async (
  worker: Worker,
  run: OpenRun | undefined,
  { call, token, body, version }: McpCall,
): Promise<void> => {
  const asked =
    run === undefined || run.left !== undefined
      ? Promise.resolve({ status: 401, body: undefined })
      : run.mcp(token, body, version);
  const answer = await asked.catch(() => undefined);
  worker.postMessage({ kind: 'answer', call, answer } satisfies DoorsOrder);
};
