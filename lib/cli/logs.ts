import { existsSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { orElse } from '../../store/base/attempt.ts';
import { type Layout, layoutOf } from '../../store/layout.ts';
import { UsageError } from '../config.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { createOutput, type Style, type Words } from './output/out.ts';

const LINES = '100';

/** `dossier logs`: prints the log of the workspace's daemon, running or not. */
export const logs = async ({ config, values }: Call): Promise<number> => {
  const { lines = LINES, follow = false } = values;
  if (!/^[1-9]\d{0,5}$/.test(lines))
    throw new UsageError(`-n takes a number of lines from 1 to 999999, not ${lines}`);
  const layout = layoutOf(config.workspace);
  if (!existsSync(layout.log))
    throw new Refusal(
      `There is no log: ${layout.log}. Only a daemon in the background writes it: dossier serve logs to its terminal, and a service to journalctl --user`,
    );
  const out = createOutput(process.stdout, config.env);
  const life = new AbortController();
  process.stdout.once('error', () => life.abort());
  for await (const line of logLines(layout, { last: Number(lines), follow, signal: life.signal })) {
    const entry = entryIn(line);
    if (values.json === true) out.jsonLine(entry ?? { msg: line });
    else out.say(...(entry === undefined ? [line] : wordsFor(entry)));
  }
  return 0;
};

type Entry = Readonly<Record<string, unknown>>;

// Node's own output at a crash is not JSON.
const entryIn = (line: string): Entry | undefined => {
  const value: unknown = line.startsWith('{')
    ? orElse(() => JSON.parse(line), undefined)
    : undefined;
  return typeof value === 'object' && value !== null ? (value as Entry) : undefined;
};

const STYLES: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };

const wordsFor = ({ level, time, msg, ...details }: Entry): Words[] => {
  const word = String(level ?? '').padEnd(5);
  const style = STYLES[String(level)];
  const more = Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details)}`;
  return [
    `${String(time ?? '')} `,
    style === undefined ? word : { style, text: word },
    ` ${String(msg ?? '')}${more}`,
  ];
};

interface Wanted {
  /** The number of existing lines. */
  last: number;
  /** Also yield new lines, until the signal is aborted. */
  follow: boolean;
  signal: AbortSignal;
}

const LOOK_MS = 250;

/** Yields the last lines of the daemon's log, then new ones, also after the file was truncated. Throws ENOENT without a log. */
const logLines = async function* (
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
    // Reading the whole file is cheap: `keepLogSmall` limits its size.
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
