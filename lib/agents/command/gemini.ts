import { record, text } from '../../../base/wire.ts';
import { begunCall, type Lines } from './output-reading.ts';

/** `gemini --output-format stream-json`. */
export const geminiLines: Lines = {
  message: (told, line) => {
    // What the user said is the prompt.
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
