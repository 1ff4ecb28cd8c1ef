import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import { exitCodeIn } from '../exit-code.ts';
import type { Lines, OutputReader } from './output-reader.ts';

type HearItem = (reader: OutputReader, item: Wire, done: boolean) => void;

const hearItem =
  (done: boolean) =>
  (reader: OutputReader, { item }: Wire): void => {
    const type = text(record(item).type) ?? 'item';
    const hear = ITEMS[type];
    if (hear === undefined) reader.other(type, item);
    else hear(reader, record(item), done);
  };

const fail = (reader: OutputReader, line: Wire): void =>
  reader.fail(text(record(line.error).message) ?? text(line.message) ?? 'the turn failed');

/** `codex exec --json`. */
export const codexLines: Lines = {
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
