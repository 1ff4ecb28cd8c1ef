import { orElse } from '../../../store/base/attempt.ts';
import { ownValue } from '../../../store/base/own-value.ts';
import type { FORMATS } from '../../../store/records/settings.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import { exitCodeIn, exitCodeSaid } from '../exit-code.ts';
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
    const hear = ownValue(lines, type);
    if (value === undefined || hear === undefined) reader.other(type, value ?? line);
    else hear(reader, value);
  };
};

/** `claude -p --output-format stream-json --verbose`, and Qwen Code's output of the same name. */
const claudeLines: Lines = {
  system: (reader, line) => reader.other('system', { subtype: line.subtype, model: line.model }),
  assistant: (reader, line) => {
    for (const part of list(record(line.message).content)) hearPart(reader, record(part));
  },
  user: (reader, line) => {
    for (const part of list(record(line.message).content)) hearResult(reader, record(part));
  },
  result: (reader, line) => {
    const { input_tokens, output_tokens } = record(line.usage);
    reader.use(input_tokens, output_tokens, line.total_cost_usd);
    if (line.is_error === true)
      reader.fail(text(line.result) ?? text(line.subtype) ?? 'it ended with an error');
  },
};

const hearPart = (reader: OutputReader, part: Wire): void => {
  if (part.type === 'text') reader.message(text(part.text) ?? '');
  else if (part.type === 'thinking') reader.thought(text(part.thinking) ?? '');
  else if (part.type === 'tool_use') hearCall(reader, part);
  else reader.other(text(part.type) ?? 'part', part);
};

const hearCall = (reader: OutputReader, part: Wire): void => {
  const name = text(part.name) ?? '';
  reader.call(text(part.id) ?? name, begunCall(name, record(part.input)));
};

const hearResult = (reader: OutputReader, part: Wire): void => {
  if (part.type !== 'tool_result') return;
  const output = textOf(part.content);
  const isFailed = part.is_error === true;
  reader.call(text(part.tool_use_id) ?? '', {
    status: isFailed ? 'failed' : 'completed',
    output,
    ...(isFailed && exitCodeSaid(output)),
  });
};

const textOf = (content: unknown): string =>
  text(content) ??
  list(content)
    .map((part) => text(record(part).text) ?? '')
    .join('\n');

type HearItem = (reader: OutputReader, item: Wire, done: boolean) => void;

const hearItem =
  (done: boolean) =>
  (reader: OutputReader, { item }: Wire): void => {
    const type = text(record(item).type) ?? 'item';
    const hear = ownValue(ITEMS, type);
    if (hear === undefined) reader.other(type, item);
    else hear(reader, record(item), done);
  };

const fail = (reader: OutputReader, line: Wire): void =>
  reader.fail(text(record(line.error).message) ?? text(line.message) ?? 'the turn failed');

/** `codex exec --json`. */
const codexLines: Lines = {
  'item.started': hearItem(false),
  'item.updated': hearItem(false),
  'item.completed': hearItem(true),
  'turn.completed': (reader, line) => {
    const { input_tokens, output_tokens } = record(line.usage);
    reader.use(input_tokens, output_tokens);
  },
  'turn.failed': fail,
  error: fail,
};

const ITEMS: Record<string, HearItem> = {
  agent_message: (reader, item, done) => {
    if (done) reader.message(`${text(item.text) ?? ''}\n`);
  },
  reasoning: (reader, item, done) => {
    if (done) reader.thought(text(item.text) ?? '');
  },
  command_execution: (reader, item, done) =>
    reader.call(text(item.id) ?? '', {
      title: text(item.command) ?? 'command',
      kind: 'execute',
      status: statusOf(item, done),
      ...(done && { output: text(item.aggregated_output) ?? '', ...exitCodeIn(item) }),
    }),
  file_change: (reader, item, done) => {
    const paths = list(item.changes).flatMap((change) => text(record(change).path) ?? []);
    reader.call(text(item.id) ?? '', {
      title: `Change ${paths.join(', ')}`,
      kind: 'edit',
      status: statusOf(item, done),
      locations: paths,
    });
  },
  todo_list: (reader, item) =>
    reader.plan(
      list(item.items).map((entry) => ({
        content: text(record(entry).text) ?? '',
        status: record(entry).completed === true ? 'completed' : 'pending',
      })),
    ),
};

const statusOf = ({ status }: Wire, done: boolean): 'in_progress' | 'completed' | 'failed' => {
  if (!done) return 'in_progress';
  return status === 'failed' || status === 'declined' ? 'failed' : 'completed';
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
