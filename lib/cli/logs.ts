import { existsSync } from 'node:fs';
import { orElse } from '../../store/base/attempt.ts';
import { layoutOf } from '../../store/layout.ts';
import { UsageError } from '../config.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { logLines } from './connection/log-lines.ts';
import { outTo, type Style, type Words } from './output/out.ts';

const LINES = '100';

/** `dossier logs`: what the daemon of the workspace logged, whether one runs or not. */
export const logs = async ({ config, values }: Call): Promise<number> => {
  const { lines = LINES, follow = false } = values;
  if (!/^[1-9]\d{0,5}$/.test(lines)) throw new UsageError('-n takes how many lines to begin with');
  const layout = layoutOf(config.workspace);
  if (!existsSync(layout.log))
    throw new Refusal(
      `There is no log: ${layout.log}. A daemon that dossier starts in the background writes it; dossier serve logs to its terminal, and a service to journalctl --user`,
    );
  const out = outTo(process.stdout, config.env);
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

// What Node itself says at a crash is no JSON.
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
