import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { killAtEnd } from './at-end.ts';

export interface Faults {
  /** The system calls work again. */
  end(): Promise<void>;
}

/**
 * Lets system calls of a running process fail, as `link,linkat:error=EPERM` says, or only where they are about a path, as
 * `fsync:error=EIO:-P/the/path` says; resolves when they do. Undefined, with
 * the reason printed, where this user may not trace a process; in CI that is a failure. strace counts `when=` for each
 * thread alone, and which thread of the pool opens a file is chance: what is counted asks for the main thread alone.
 */
export const inject = async (
  t: TestContext,
  pid: number | { mainThread: number } | undefined,
  ...faults: string[]
): Promise<Faults | undefined> => {
  const names = faults.map((fault) => fault.split(':')[0]).join(',');
  const injections = faults.flatMap((fault) => {
    const [what = '', path] = fault.split(/:-P(?=\/)/);
    return ['-e', `inject=${what}`, ...(path === undefined ? [] : ['-P', path])];
  });
  // Only those calls stop the process: the others run as fast as ever.
  const whom = typeof pid === 'object' ? ['-p', `${pid.mainThread}`] : ['-f', '-p', `${pid}`];
  const args = ['-o', '/dev/null', '-e', `trace=${names}`, ...injections, ...whom];
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  killAtEnd(t, strace);
  const exited = once(strace, 'exit').catch(() => undefined);
  const reason = await new Promise<string | undefined>((resolve) => {
    let said = '';
    // Read to its end: it must be able to go on speaking.
    strace.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('attached')) resolve(undefined);
    });
    strace.on('error', (error) => resolve(error.message));
    strace.on('exit', () => resolve(said));
  });
  if (reason !== undefined) {
    assert.notEqual(process.env.CI, 'true', `no faults can be made here: ${reason}`);
    t.skip(`no faults can be made here: ${reason}`);
    return undefined;
  }
  return {
    end: async () => {
      strace.kill('SIGTERM');
      await exited;
    },
  };
};
