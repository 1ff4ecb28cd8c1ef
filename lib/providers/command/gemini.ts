import { number, record, text } from '../wire.ts';
import { kindOf, type Lines } from './told.ts';

/** `gemini --output-format stream-json`. */
export const geminiLines: Lines = {
  message: (told, line) => {
    // What the user said is the prompt.
    if (line.role === 'assistant') told.message(text(line.content) ?? '');
  },
  tool_use: (told, line) => {
    const name = text(line.tool_name) ?? '';
    const { command, file_path } = record(line.parameters);
    const path = text(file_path);
    told.call(text(line.tool_id) ?? name, {
      title: text(command) ?? (path === undefined ? name : `${name} ${path}`),
      kind: kindOf(name),
      status: 'in_progress',
      ...(path !== undefined && { locations: [path] }),
    });
  },
  tool_result: (told, line) =>
    told.call(text(line.tool_id) ?? '', {
      status: line.status === 'success' ? 'completed' : 'failed',
      output: text(line.output) ?? '',
    }),
  result: (told, line) => {
    const { input_tokens, output_tokens } = record(line.stats);
    told.use({
      input_tokens: number(input_tokens) ?? null,
      output_tokens: number(output_tokens) ?? null,
    });
    if (line.status !== 'success') told.fail(text(record(line.error).message) ?? 'it failed');
  },
};
