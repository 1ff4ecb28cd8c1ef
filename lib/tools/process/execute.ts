import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { settlesWithin } from '../../../store/base/async.ts';
import { isDone } from '../../../store/base/attempt.ts';
import type { Environment } from './environment.ts';

const TERM_MS = 2000;
const DRAIN_MS = 1000;

export type ProcessInput = string | Buffer | AsyncIterable<Buffer>;

interface ExecuteOptions {
  cwd: string;
  env: Environment;
  input?: ProcessInput | undefined;
  timeout_ms: number;
  max_bytes: number;
  /** An open file descriptor that receives standard output of any length instead of `stdout`. */
  into?: number | undefined;
  /** Ends the program, as a limit does. */
  signal?: AbortSignal;
}

export interface Execution {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: string;
  /** The limit that ended the program, or `signal`. */
  stopped?: Stopped;
}

type Stopped = 'timeout' | 'output' | 'aborted';

/**
 * Runs a program to its end and collects its output. Rejects only if it cannot be started. Past a limit its process group
 * gets SIGTERM, so that git can remove its lock files, and SIGKILL 2 s later.
 */
export const execute = async (
  argv: readonly string[],
  options: ExecuteOptions,
): Promise<Execution> => {
  const [file = '', ...args] = argv;
  const { cwd, env, input, max_bytes, into = 'pipe' } = options;
  const from = input === undefined ? 'ignore' : 'pipe';
  const child = spawn(file, args, { cwd, env, detached: true, stdio: [from, into, 'pipe'] });
  const gone = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
    (resolve, reject) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
      child.once('error', reject);
    },
  );
  const closed = new Promise((resolve) => child.once('close', resolve));
  let stopped: Execution['stopped'];
  const stop = (why: Stopped): void => {
    if (stopped !== undefined) return;
    stopped = why;
    void endGroup(child.pid, gone);
  };
  const abort = (): void => stop('aborted');
  options.signal?.addEventListener('abort', abort);
  if (options.signal?.aborted === true) abort();
  const timer = setTimeout(() => stop('timeout'), options.timeout_ms);
  const stdout = collect(child.stdout, max_bytes, () => stop('output'));
  const stderr = collect(child.stderr, max_bytes, () => stop('output'));
  let failure: Error | undefined;
  const fed = feed(child.stdin, input).then((error) => {
    failure = error;
  });
  try {
    const { code, signal } = await gone;
    await settlesWithin(closed, DRAIN_MS);
    // With a deadline: on Node 24 an input that never ends does not end when its reader does.
    await settlesWithin(fed, DRAIN_MS);
    if (failure !== undefined) throw failure;
    const result = { code, signal, stdout: stdout(), stderr: stderr().toString('utf8') };
    return stopped === undefined ? result : { ...result, stopped };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', abort);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
};

const endGroup = async (pid: number | undefined, gone: Promise<unknown>): Promise<void> => {
  if (pid === undefined) return;
  signalGroup(pid, 'SIGTERM');
  if (!(await settlesWithin(gone, TERM_MS))) signalGroup(pid, 'SIGKILL');
};

/** Signals a process group. Returns false if it has just ended. */
export const signalGroup = (pid: number, name: NodeJS.Signals): boolean =>
  isDone(() => process.kill(-pid, name));

const collect = (stream: Readable | null, max_bytes: number, full: () => void): (() => Buffer) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > max_bytes) full();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks);
};

// EPIPE means that the program did not read all of its input; any other error comes from the input.
const feed = async (
  stdin: NodeJS.WritableStream | null,
  input: ProcessInput | undefined,
): Promise<Error | undefined> => {
  if (stdin === null || input === undefined) return undefined;
  const source = typeof input === 'string' || Buffer.isBuffer(input) ? [input] : input;
  try {
    await pipeline(Readable.from(source), stdin);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE' ? undefined : (error as Error);
  }
};
