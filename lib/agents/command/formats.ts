import { orElse } from '../../../store/base/attempt.ts';
import type { FORMATS } from '../../../store/records/settings.ts';
import { record, text, type Wire } from '../../text/unknown-json.ts';
import { claudeLines } from './claude.ts';
import { codexLines } from './codex.ts';
import { begunCall, type Lines, type OutputReader, toolKind } from './output-reader.ts';

export type Format = (typeof FORMATS)[number];

type Hear = (reader: OutputReader, line: string) => void;

/** Reads a line of a program's output. A line that is not JSON in a JSON format is emitted as it is. */
export const hearLine = (format: Format): Hear => {
  const lines = LINES[format];
  if (lines === undefined) return (reader, line) => reader.message(`${line}\n`);
  return (reader, line) => {
    if (line.trim() === '') return;
    const value = parsed(line);
    const type = text(value?.type) ?? 'output';
    const hear = Object.hasOwn(lines, type) ? lines[type] : undefined;
    if (value === undefined || hear === undefined) reader.other(type, value ?? line);
    else hear(reader, value);
  };
};

/** `gemini --output-format stream-json`. */
const geminiLines: Lines = {
  message: (reader, line) => {
    // Lines of the user repeat the prompt.
    if (line.role === 'assistant') reader.message(text(line.content) ?? '');
  },
  tool_use: (reader, line) => {
    const name = text(line.tool_name) ?? '';
    reader.call(text(line.tool_id) ?? name, begunCall(name, record(line.parameters)));
  },
  tool_result: (reader, line) =>
    reader.call(text(line.tool_id) ?? '', {
      status: line.status === 'success' ? 'completed' : 'failed',
      output: text(line.output) ?? '',
    }),
  result: (reader, line) => {
    const { input_tokens, output_tokens } = record(line.stats);
    reader.use(input_tokens, output_tokens);
    if (line.status !== 'success') reader.fail(text(record(line.error).message) ?? 'it failed');
  },
};

/** `opencode run --format json`. */
const opencodeLines: Lines = {
  step_start: () => undefined,
  text: (reader, line) => reader.message(`${text(record(line.part).text) ?? ''}\n`),
  reasoning: (reader, line) => reader.thought(text(record(line.part).text) ?? ''),
  tool_use: (reader, line) => {
    const { tool, callID, state } = record(line.part);
    const { input, output, status, title, error } = record(state);
    const { command, filePath } = record(input);
    const name = text(tool) ?? '';
    const path = text(filePath);
    reader.call(text(callID) ?? name, {
      title: text(command) ?? text(title) ?? `${name} ${path ?? ''}`.trim(),
      kind: toolKind(name),
      status: status === 'error' ? 'failed' : 'completed',
      output: text(output) ?? text(error) ?? '',
      ...(path !== undefined && { locations: [path] }),
    });
  },
  // One line per model call, each with its own figures.
  step_finish: (reader, line) => {
    const { tokens, cost } = record(line.part);
    const { input, output } = record(tokens);
    reader.use(input, output, cost);
  },
  error: (reader, line) => {
    const { data, name } = record(line.error);
    reader.fail(text(record(data).message) ?? text(name) ?? 'it failed');
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
