import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { killAtEnd } from './at-end.ts';
import { stateOf } from './state-dir.ts';

/** The bundled daemon, as it ships. */
export const DOSSIER = fileURLToPath(new URL('../../dossier.js', import.meta.url));

export interface Daemon {
  url: string;
  process: ChildProcess;
  /** What it wrote to standard error so far. */
  errors(): string;
  /** Sends a signal and resolves with how the process ended. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/**
 * Starts the daemon in a process of its own on a free port, and waits until it has compared and recovered; it is killed after the test if it is still there. It trusts the
 * workspace's files unless `env` has another DOSSIER_TRUST.
 */
export const startDaemon = async (
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
  /** Runs as this user and group, which only root can ask for. */
  uid?: number,
): Promise<Daemon> => {
  const child = spawn(process.execPath, [DOSSIER, 'serve', '--port', '0', ...args], {
    env: {
      ...{ ...process.env, DOSSIER_TRUST: '1', DOSSIER_FOLLOW_LOCKS: '1' },
      ...{ ...stateOf(uid), ...env },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  killAtEnd(t, child);
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const url = await Promise.race([
    firstUrl(child).then(untilStarted),
    exited.then(({ code }) => {
      throw new Error(`The daemon ended with ${code} before it was ready: ${errors}`);
    }),
  ]);
  return {
    url,
    process: child,
    errors: () => errors,
    end: async (signal) => {
      child.kill(signal);
      return exited;
    },
  };
};

// Most calls wait for that, this one too.
const untilStarted = async (url: string): Promise<string> => {
  const answer = await fetch(`${url}/api/diagnostics`, { headers: { connection: 'close' } });
  await answer.arrayBuffer();
  return url;
};

/** The first address that a daemon prints; never resolves when it prints none. */
export const firstUrl = async (child: ChildProcess): Promise<string> => {
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
    if (url !== null) return url[0];
  }
  return new Promise(() => undefined);
};
