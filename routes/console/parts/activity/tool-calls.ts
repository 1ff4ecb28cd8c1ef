import { baseOf, type Entry, type Of, type ToolCall } from './entry.ts';
import { cutText, fileDiffs } from './file-diffs.ts';

const OUTPUT = { head: 1500, tail: 2500 };
/** The most diff lines shown of a call. */
const MOST_LINES = 160;

/** Adds a call, or replaces its entry. */
export const addToolCall = ({ entries }: { entries: Entry[] }, event: Of<'tool_call'>): void => {
  const { tool_call_id, title, kind, status, output = '', locations = [] } = event.data;
  const { diffs = [], truncated = false } = event.data;
  const at = callAt(entries, tool_call_id);
  const before = entries[at] as ToolCall | undefined;
  const shown = fileDiffs(diffs, MOST_LINES);
  const isCut = output.length > OUTPUT.head + OUTPUT.tail || shown.some(({ more }) => more > 0);
  const now: ToolCall = {
    ...baseOf(event),
    kind: 'call',
    call_id: tool_call_id,
    title,
    tool: kind,
    is_output: false,
    status,
    files: locations.slice(0, 20),
    diffs: shown,
    cut: isCut || truncated,
    output: output === '' ? (before?.output ?? '') : cutText(output, OUTPUT),
  };
  if (before === undefined) entries.push(now);
  else entries[at] = { ...now, from: before.from, at: before.at };
};

const callAt = (entries: readonly Entry[], id: string): number =>
  entries.findLastIndex((entry) => entry.kind === 'call' && entry.call_id === id);

/** Appends to the output of a call. */
export const appendOutput = ({ entries }: { entries: Entry[] }, event: Of<'tool_output'>): void => {
  const { tool_call_id, text } = event.data;
  const at = callAt(entries, tool_call_id);
  const before = (entries[at] as ToolCall | undefined) ?? outputAlone(event);
  const now = { ...before, to: event.id, output: (before.output + text).slice(-OUTPUT.tail) };
  if (at < 0) entries.push(now);
  else entries[at] = now;
};

// The call itself is earlier than the loaded events.
const outputAlone = (event: Of<'tool_output'>): ToolCall => ({
  ...baseOf(event),
  kind: 'call',
  call_id: event.data.tool_call_id,
  title: 'Output of a command that began earlier',
  tool: '',
  is_output: true,
  status: 'in_progress',
  files: [],
  diffs: [],
  output: '',
  cut: false,
});

/** Whether only the output of a call is loaded. */
export const isOutput = (entry: Entry | undefined): entry is ToolCall =>
  entry?.kind === 'call' && entry.is_output;

/** The entry of a call with its output that follows. */
export const withOutput = (entry: Entry, { to, output }: ToolCall): Entry =>
  entry.kind === 'call'
    ? { ...entry, to, output: (entry.output + output).slice(-OUTPUT.tail) }
    : entry;
