import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DOSSIER, firstUrl } from './daemon.ts';
import { eventually } from './eventually.ts';

/** A daemon that strace takes hold of when the test says so. */
export interface TracedDaemon {
  url: string;
  /** From now on strace sees what it does, with these arguments. */
  attach(strace: string[]): Promise<void>;
  /** False once it was killed. */
  alive(): boolean;
  /** Resolves when the daemon is no more, and strace has ended. */
  readonly ended: Promise<void>;
  /** Kills it, if it is alive still: then true. */
  kill(): Promise<boolean>;
}

/** Kills the daemon as it enters the nth call of that name, before the kernel has done anything of it. */
export const killedAt = (call: string, nth: number): string[] => [
  ...only(call),
  `--inject=${call}:signal=SIGKILL:when=${nth}`,
];

/** Writes down every call of these names, with the paths of their descriptors. */
export const written = (file: string, calls: string): string[] => [
  ...only(calls),
  '-y',
  `--output=${file}`,
];

const only = (calls: string): string[] => ['-f', '-qq', `--trace=${calls}`, '--signal=none'];

/**
 * Starts the daemon as the child of what becomes strace: so the system lets it look, also where only parents may. With
 * one thread for file system work, that comes in the same order every time.
 */
export const startTraced = async (
  t: TestContext,
  args: string[],
  threads = '1',
): Promise<TracedDaemon> => {
  const command = [process.execPath, DOSSIER, '--port', '0', '--log-level', 'silent', ...args];
  const child = spawn('sh', ['-c', SCRIPT, 'sh', ...command], {
    env: { ...process.env, UV_THREADPOOL_SIZE: threads },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let alive = true;
  const ended = once(child, 'exit').then(() => {
    alive = false;
  });
  const url = await firstUrl(child);
  const pid = childOf(child);
  const kill = async (): Promise<boolean> => {
    const killed = alive && isRunning(pid) && process.kill(pid, 'SIGKILL');
    child.stdin?.end();
    await ended;
    return killed;
  };
  t.after(kill);
  return {
    url,
    alive: () => alive && isRunning(pid),
    ended,
    kill,
    attach: async (strace) => {
      child.stdin?.end(`${strace.join(SEPARATOR)}\n`);
      await eventually(() => assert.ok(!alive || isTraced(pid), 'strace holds every thread'));
    },
  };
};

const SEPARATOR = '\u001f';

// `-b execve`: the programs that the daemon starts are let go. Without a word on standard input strace is never started.
const SCRIPT = `
"$@" </dev/null &
IFS= read -r arguments || { wait; exit; }
IFS=$(printf '\\037')
exec strace -b execve $arguments -p $!
`;

const childOf = ({ pid }: ChildProcess): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);

const isTraced = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => tracerOf(join(`/proc/${pid}/task`, thread)));

const tracerOf = (task: string): boolean =>
  !/^TracerPid:\t0$/m.test(readFileSync(join(task, 'status'), 'utf8'));

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\t[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** Skips the test where strace cannot be used, with the reason; in CI that is a failure. */
export const canTrace = (t: TestContext): boolean => {
  const { error, status, stderr } = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true'], {
    encoding: 'utf8',
  });
  if (error === undefined && status === 0) return true;
  const reason = `the daemon cannot be killed step by step: ${error?.message ?? stderr.trim()}`;
  assert.notEqual(process.env.CI, 'true', reason);
  t.diagnostic(reason);
  t.skip(reason);
  return false;
};
