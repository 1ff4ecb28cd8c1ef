import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import { exitCodeSaid } from '../exit-code.ts';
import { begunCall, type Lines, type OutputReader } from './output-reader.ts';

/** `claude -p --output-format stream-json --verbose`, and Qwen Code's output of the same name. */
export const claudeLines: Lines = {
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
