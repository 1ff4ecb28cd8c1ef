import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { serveArgs } from './build.ts';
import { treeOf } from './tree.ts';

/** A server in a process of its own, so that its CPU time is its own. */
export interface ServerProcess {
  url: string;
  pid: number;
  /** From the start of the process until it printed its URL, in milliseconds. */
  ready_ms: number;
  stop(): Promise<void>;
}

export const BARE = fileURLToPath(new URL('./bare.js', import.meta.url));

/** Starts the daemon that is measured, on a workspace and on any free port. */
export const startDossier = (root: string, ...args: string[]): Promise<ServerProcess> =>
  startServer(...serveArgs(root, ...args));

/** Starts a program that prints a line with its URL. */
export const startServer = async (script: string, ...args: string[]): Promise<ServerProcess> => {
  const from = performance.now();
  const child = track(
    spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const url = await urlOf(child);
  return {
    url,
    pid: child.pid ?? 0,
    ready_ms: performance.now() - from,
    stop: () => stop(child),
  };
};

const running = new Set<ChildProcess>();

/** A program that is ended by `stopAll`, where nothing ends it before. */
export const track = <C extends ChildProcess>(child: C): C => {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
};

/** Ends what a measure that failed has left. */
export const stopAll = async (): Promise<void> => {
  await Promise.all([...running].map(stopTree));
};

process.once('exit', () => {
  for (const child of running) endTree(child);
});

/** Ends a program that this process started. Resolves when it has ended. */
export const stop = (child: ChildProcess): Promise<void> => ended(child, () => child.kill());

const DRAIN_MS = 10_000;

/** The same, and ends the programs that it started. It is killed where it has not ended ten seconds later. */
export const stopTree = async (child: ChildProcess): Promise<void> => {
  const late = setTimeout(() => endTree(child, 'SIGKILL'), DRAIN_MS);
  await ended(child, () => endTree(child));
  clearTimeout(late);
};

const ended = async (child: ChildProcess, end: () => void): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  end();
  await exit;
};

// Those below first: a program that ends before them leaves them to another.
const endTree = ({ pid }: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): void => {
  for (const each of pid === undefined ? [] : treeOf(pid).reverse()) {
    try {
      process.kill(each, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
};

/** The URL that a program prints. Throws when the program ends without. */
export const urlOf = async (child: ChildProcess): Promise<string> => {
  const ended = once(child, 'exit').then(() => {
    throw new Error('The server ended before it printed its URL');
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
