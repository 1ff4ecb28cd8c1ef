import type { ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { settlesWithin } from '../../../store/base/async.ts';

/** How a child process ended; `error` if it could not be spawned. */
export interface Departure {
  code: number | null;
  signal: NodeJS.Signals | null;
  error?: Error;
}

const DRAIN_MS = 250;

/**
 * Whether a child process has started its program. bubblewrap, which starts one for another, reports an exit code on descriptor
 * 3 of such a program alone: not of its own failure, which has the code 1 as well.
 */
export const watchStart = ({
  stdio: [, , , report],
}: ChildProcess): ((exit: Departure) => Promise<boolean>) => {
  let said = '';
  const ended = report instanceof Readable ? finished(report).catch(() => undefined) : undefined;
  report?.on('data', (piece) => {
    said += piece;
  });
  return async ({ code, signal, error }) => {
    if (error !== undefined) return false;
    if (ended === undefined || code === 0 || signal !== null) return true;
    await settlesWithin(ended, DRAIN_MS);
    return said.includes('"exit-code"');
  };
};
