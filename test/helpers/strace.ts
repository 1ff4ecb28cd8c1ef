import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';
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
  const child = launch(['sh', '-c', SCRIPT, 'sh', ...commandOf(args)], threads);
  const hold = holdOn(t, child);
  return {
    ...hold,
    url: await firstUrl(child),
    attach: async (strace) => {
      child.stdin?.end(`${strace.join(SEPARATOR)}\n`);
      await eventually(() => assert.ok(!hold.alive() || isTraced(childOf(child)), 'it is held'));
    },
  };
};

/** Starts the daemon under strace. Without an address it was killed before it had one. */
export const startUnder = async (
  t: TestContext,
  args: string[],
  strace: string[],
): Promise<Omit<TracedDaemon, 'url' | 'attach'> & { url: string | undefined }> => {
  const child = launch(['strace', '-b', 'execve', ...strace, ...commandOf(args)], '1');
  const hold = holdOn(t, child);
  const url = await Promise.race([firstUrl(child), hold.ended.then(() => undefined)]);
  return { ...hold, url };
};

const commandOf = (args: string[]): string[] => [
  ...[process.execPath, DOSSIER, 'serve', '--port', '0', '--log-level', 'silent'],
  ...args,
];

const launch = ([command = '', ...args]: string[], threads: string): ChildProcess =>
  spawn(command, args, {
    env: { ...process.env, DOSSIER_TRUST: '1', UV_THREADPOOL_SIZE: threads },
    stdio: ['pipe', 'pipe', 'inherit'],
  });

const holdOn = (
  t: TestContext,
  child: ChildProcess,
): Pick<TracedDaemon, 'alive' | 'ended' | 'kill'> => {
  let over = false;
  const ended = once(child, 'exit').then(() => {
    over = true;
  });
  const alive = (): boolean => !over && isRunning(childOf(child));
  const kill = async (): Promise<boolean> => {
    const killed = alive() && process.kill(childOf(child), 'SIGKILL');
    child.stdin?.end();
    await ended;
    return killed;
  };
  atEnd(t, kill);
  return { alive, ended, kill };
};

const SEPARATOR = '\u001f';

// `-b execve`: the programs that the daemon starts are let go. Without a word on standard input strace is never started.
const SCRIPT = `
"$@" </dev/null &
IFS= read -r arguments || { wait; exit; }
IFS=$(printf '\\037')
exec strace -b execve $arguments -p $!
`;

// 0: none any more.
const childOf = ({ pid }: ChildProcess): number =>
  Number(textOf(`/proc/${pid}/task/${pid}/children`).trim().split(' ')[0]);

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const isTraced = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => tracerOf(join(`/proc/${pid}/task`, thread)));

const tracerOf = (task: string): boolean =>
  /^TracerPid:\t[1-9]/m.test(textOf(join(task, 'status')));

const isRunning = (pid: number): boolean => /^State:\t[^ZX]/m.test(textOf(`/proc/${pid}/status`));

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
