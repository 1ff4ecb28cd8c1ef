import { record, text } from '../../../base/wire.ts';
import { type Lines, toolKind } from './output-reading.ts';

/** `opencode run --format json`. */
export const opencodeLines: Lines = {
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
  // One for each call of the model, each with its own figures.
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
