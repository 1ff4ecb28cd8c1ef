import { readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { orElse } from '../../../store/base/attempt.ts';
import type { Layout } from '../../../store/layout.ts';

interface Wanted {
  /** How many of the lines that are there. */
  last: number;
  /** Then those that are written, until the signal is aborted. */
  follow: boolean;
  signal: AbortSignal;
}

const LOOK_MS = 250;

/** The last lines of the daemon's log, then the next ones, also where the file begins anew. Throws ENOENT where there is none. */
export const logLines = async function* (
  { log }: Layout,
  { last, follow, signal }: Wanted,
): AsyncGenerator<string> {
  const there = readFileSync(log);
  let end = follow ? wholeLines(there) : there.length;
  yield* linesIn(there.subarray(0, end)).slice(-last);
  for (let size = there.length; follow && !signal.aborted; ) {
    await delay(LOOK_MS);
    const now = orElse(() => statSync(log).size, size, 'ENOENT');
    if (now === size) continue;
    // Small by its limit: `keepLogSmall` cuts it.
    const bytes = readFileSync(log);
    if (bytes.length < end) end = 0;
    const next = wholeLines(bytes);
    yield* linesIn(bytes.subarray(end, next));
    [end, size] = [next, now];
  }
};

const NEW_LINE = 10;

const wholeLines = (bytes: Buffer): number => bytes.lastIndexOf(NEW_LINE) + 1;

const linesIn = (bytes: Buffer): string[] =>
  bytes.length === 0 ? [] : bytes.toString().replace(/\n$/, '').split('\n');
