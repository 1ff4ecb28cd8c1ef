import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import { exitCodeSaid } from '../exit-code.ts';
import { begunCall, type Lines, type OutputReader } from './output-reading.ts';

/** `claude -p --output-format stream-json --verbose`, and Qwen Code's output of the same name. */
export const claudeLines: Lines = {
  system: (told, line) => told.other('system', { subtype: line.subtype, model: line.model }),
  assistant: (told, line) => {
    for (const part of list(record(line.message).content)) hearPart(told, record(part));
  },
  user: (told, line) => {
    for (const part of list(record(line.message).content)) hearResult(told, record(part));
  },
  result: (told, line) => {
    const { input_tokens, output_tokens } = record(line.usage);
    told.use(input_tokens, output_tokens, line.total_cost_usd);
    if (line.is_error === true)
      told.fail(text(line.result) ?? text(line.subtype) ?? 'it ended with an error');
  },
};

const hearPart = (told: OutputReader, part: Wire): void => {
  if (part.type === 'text') told.message(text(part.text) ?? '');
  else if (part.type === 'thinking') told.thought(text(part.thinking) ?? '');
  else if (part.type === 'tool_use') hearCall(told, part);
  else told.other(text(part.type) ?? 'part', part);
};

const hearCall = (told: OutputReader, part: Wire): void => {
  const name = text(part.name) ?? '';
  told.call(text(part.id) ?? name, begunCall(name, record(part.input)));
};

const hearResult = (told: OutputReader, part: Wire): void => {
  if (part.type !== 'tool_result') return;
  const output = textOf(part.content);
  const isFailed = part.is_error === true;
  told.call(text(part.tool_use_id) ?? '', {
    ...{ status: isFailed ? 'failed' : 'completed', output },
    ...(isFailed && exitCodeSaid(output)),
  });
};

const textOf = (content: unknown): string =>
  text(content) ??
  list(content)
    .map((part) => text(record(part).text) ?? '')
    .join('\n');
