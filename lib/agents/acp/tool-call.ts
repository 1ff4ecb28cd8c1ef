import { capText } from '../../text/cap-text.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import { exitCodeIn, exitCodeSaid } from '../exit-code.ts';
import type { RunEvent } from '../provider.ts';

type ToolCallData = Extract<RunEvent, { type: 'tool_call' }>['data'];
type ToolCallStatus = ToolCallData['status'];
type Diff = NonNullable<ToolCallData['diffs']>[number];

/** The state of a tool call, merged from the agent's updates. */
export interface ToolCall {
  id: string;
  title: string;
  kind: string;
  status: ToolCallStatus;
  output: string;
  /** Its output arrives as deltas in an extension, so the final update does not have all of it. */
  streamed: boolean;
  diffs: Diff[];
  paths: string[];
  raw_input: Wire;
  /** Reported as data, apart from the output. */
  exit_code: number | undefined;
}

const STATUSES: readonly string[] = ['pending', 'in_progress', 'completed', 'failed'];

/** Merges an update (tool_call, tool_call_update, or the tool call of a permission request) into the known state. */
export const mergeToolCall = (known: ToolCall | undefined, piece: Wire): ToolCall => {
  const base = known ?? newToolCall(text(piece.toolCallId) ?? '');
  const paths = pathsOf(piece);
  const diffs = diffsOf(piece);
  return {
    id: base.id,
    title: titleOf(piece) ?? base.title,
    kind: text(piece.kind) ?? base.kind,
    status: statusOf(piece.status) ?? base.status,
    ...outputOf(base, piece),
    diffs: diffs.length > 0 ? diffs : base.diffs,
    paths: paths.length > 0 ? paths : base.paths,
    raw_input: piece.rawInput === undefined ? base.raw_input : record(piece.rawInput),
    exit_code: exitCodeOf(piece) ?? base.exit_code,
  };
};

export const isOver = ({ status }: ToolCall): boolean =>
  status !== 'pending' && status !== 'in_progress';

/** The event of a tool call. It has the output only after the end, because agents repeat growing output with each update. */
export const toolCallEvent = (
  call: ToolCall,
  outputLimit: number,
  over = isOver(call),
): RunEvent => {
  const { output, truncated } = capText(call.output, outputLimit);
  const told = over && output !== '';
  return {
    type: 'tool_call',
    data: {
      tool_call_id: call.id,
      title: call.title,
      kind: call.kind,
      status: call.status,
      ...(told && { output }),
      ...(told && truncated && { truncated }),
      ...(over && exitOf(call)),
      ...(call.paths.length > 0 && { locations: call.paths }),
      ...(over && call.diffs.length > 0 && { diffs: call.diffs }),
    },
  };
};

// Only for commands: the output of another tool may contain the same text.
const exitOf = ({ kind, status, output, exit_code }: ToolCall): { exit_code?: number } => {
  if (kind !== 'execute') return {};
  if (exit_code !== undefined) return { exit_code };
  return status === 'failed' ? exitCodeSaid(output) : {};
};

const newToolCall = (id: string): ToolCall => ({
  id,
  title: '',
  kind: 'other',
  status: 'pending',
  output: '',
  streamed: false,
  diffs: [],
  paths: [],
  raw_input: {},
  exit_code: undefined,
});

// The title may be a long command: keep its beginning and end.
const titleOf = (piece: Wire): string | undefined => {
  const title = text(piece.title);
  return title === undefined ? undefined : capText(title, LONGEST_TITLE).output;
};

const LONGEST_TITLE = 16_384;

const statusOf = (status: unknown): ToolCallStatus | undefined =>
  STATUSES.includes(text(status) ?? '') ? (status as ToolCallStatus) : undefined;

const pathsOf = (piece: Wire): string[] => {
  const located = list(piece.locations).map((location) => text(record(location).path));
  const changed = list(piece.content).map((part) => text(record(part).path));
  return [...new Set([...located, ...changed])].filter((path) => path !== undefined);
};

const outputOf = (known: ToolCall, piece: Wire): Pick<ToolCall, 'output' | 'streamed'> => {
  const { output, streamed } = known;
  const parts = list(piece.content).map((part) => text(record(record(part).content).text));
  const told = parts.filter((part) => part !== undefined).join('\n');
  if (told !== '') return { output: told, streamed };
  const more = streamedIn(record(piece._meta));
  if (more !== undefined) return { output: streamed ? output + more : more, streamed: true };
  return { output: streamed ? output : (rawOutput(piece.rawOutput) ?? output), streamed };
};

// An editor convention that Codex and Claude Code follow.
const streamedIn = ({ terminal_output, terminal_output_delta }: Wire): string | undefined =>
  text(record(terminal_output_delta).data) ?? text(record(terminal_output).data);

const diffsOf = (piece: Wire): Diff[] =>
  list(piece.content)
    .map(record)
    .filter(({ type }) => type === 'diff')
    .slice(0, MOST_DIFFS)
    .flatMap(diffOf);

const diffOf = ({ path, oldText, newText }: Wire): Diff[] => {
  const [name, after, before] = [text(path), text(newText), text(oldText)];
  if (name === undefined || after === undefined) return [];
  const old_text = before === undefined ? null : capText(before, LONGEST_DIFF).output;
  return [{ path: name, old_text, new_text: capText(after, LONGEST_DIFF).output }];
};

const MOST_DIFFS = 20;
const LONGEST_DIFF = 16_384;

const exitCodeOf = ({ rawOutput, _meta }: Wire): number | undefined => {
  const { exit_code } = exitCodeIn(record(record(_meta).terminal_exit));
  if (exit_code !== undefined) return exit_code;
  const raw = record(rawOutput);
  return exitCodeIn(raw).exit_code ?? exitCodeIn(record(raw.metadata)).exit_code;
};

const rawOutput = (raw: unknown): string | undefined => {
  if (raw === undefined || raw === null) return undefined;
  return text(raw) ?? text(record(raw).output) ?? JSON.stringify(raw);
};
