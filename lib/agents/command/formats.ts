import { orElse } from '../../../store/base/attempt.ts';
import type { FORMATS } from '../../../store/records/settings.ts';
import { record, text, type Wire } from '../../text/unknown-json.ts';
import { claudeLines } from './claude.ts';
import { codexLines } from './codex.ts';
import { begunCall, type Lines, type OutputReader, toolKind } from './output-reading.ts';

export type Format = (typeof FORMATS)[number];

type Hear = (told: OutputReader, line: string) => void;

/** Reads a line of a program's output. A line that is not JSON in a JSON format is emitted as it is. */
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

/** `gemini --output-format stream-json`. */
const geminiLines: Lines = {
  message: (told, line) => {
    // Lines of the user repeat the prompt.
    if (line.role === 'assistant') told.message(text(line.content) ?? '');
  },
  tool_use: (told, line) => {
    const name = text(line.tool_name) ?? '';
    told.call(text(line.tool_id) ?? name, begunCall(name, record(line.parameters)));
  },
  tool_result: (told, line) =>
    told.call(text(line.tool_id) ?? '', {
      status: line.status === 'success' ? 'completed' : 'failed',
      output: text(line.output) ?? '',
    }),
  result: (told, line) => {
    const { input_tokens, output_tokens } = record(line.stats);
    told.use(input_tokens, output_tokens);
    if (line.status !== 'success') told.fail(text(record(line.error).message) ?? 'it failed');
  },
};

/** `opencode run --format json`. */
const opencodeLines: Lines = {
  step_start: () => undefined,
  text: (told, line) => told.message(`${text(record(line.part).text) ?? ''}\n`),
  reasoning: (told, line) => told.thought(text(record(line.part).text) ?? ''),
  tool_use: (told, line) => {
    const { tool, callID, state } = record(line.part);
    const { input, output, status, title, error } = record(state);
    const { command, filePath } = record(input);
    const name = text(tool) ?? '';
    const path = text(filePath);
    told.call(text(callID) ?? name, {
      title: text(command) ?? text(title) ?? `${name} ${path ?? ''}`.trim(),
      kind: toolKind(name),
      status: status === 'error' ? 'failed' : 'completed',
      output: text(output) ?? text(error) ?? '',
      ...(path !== undefined && { locations: [path] }),
    });
  },
  // One line per model call, each with its own figures.
  step_finish: (told, line) => {
    const { tokens, cost } = record(line.part);
    const { input, output } = record(tokens);
    told.use(input, output, cost);
  },
  error: (told, line) => {
    const { data, name } = record(line.error);
    told.fail(text(record(data).message) ?? text(name) ?? 'it failed');
  },
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
