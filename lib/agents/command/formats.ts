import { orElse } from '../../../base/or-else.ts';
import { record, text, type Wire } from '../../../base/wire.ts';
import type { FORMATS } from '../../../store/records/settings.ts';
import { claudeLines } from './claude.ts';
import { codexLines } from './codex.ts';
import { geminiLines } from './gemini.ts';
import { opencodeLines } from './opencode.ts';
import type { Lines, OutputReading } from './output-reading.ts';

export type Format = (typeof FORMATS)[number];

type Hear = (told: OutputReading, line: string) => void;

/** Reads one line of a program's output. What is no JSON where JSON is due is a warning of the program's: told as it is. */
export const hearLine = (format: Format): Hear => {
  const lines = LINES[format];
  if (lines === undefined) return (told, line) => told.message(`${line}\n`);
  return (told, line) => {
    if (line.trim() === '') return;
    const value = parsed(line);
    const type = text(value?.type) ?? 'output';
    const hear = Object.hasOwn(lines, type) ? lines[type] : undefined;
    if (value === undefined || hear === undefined) told.other(type, value ?? line);
    else hear(told, value);
  };
};

const LINES: Partial<Record<Format, Lines>> = {
  'claude-stream-json': claudeLines,
  'codex-jsonl': codexLines,
  'gemini-stream-json': geminiLines,
  'opencode-json': opencodeLines,
};

const parsed = (line: string): Wire | undefined => {
  const value = orElse((): unknown => JSON.parse(line), undefined);
  return typeof value === 'object' && value !== null ? record(value) : undefined;
};
