import type { SessionEvent, SessionEvents } from '../../../../lib/client/client.ts';
import type { FileDiff } from './file-diffs.ts';

interface Base {
  /** The ids of the first and the last event that the entry combines. */
  from: number;
  to: number;
  at: string;
}

/** A message or a thought of the agent, joined from its parts. */
export interface AgentText extends Base {
  kind: 'message' | 'thought';
  /** The beginning and the end; the text between may be left out. */
  text: string;
  rest: string;
  /** The length of the whole text, in characters. */
  length: number;
}

/** Whether a part of the text is left out. */
export const isCut = ({ text, rest, length }: AgentText): boolean =>
  length > text.length + rest.length;

/** A tool call, command or block, in its last state. */
export interface ToolCall extends Base {
  kind: 'call';
  call_id: string;
  title: string;
  tool: string;
  /** Only its output is loaded: the event with its title is earlier. */
  is_output: boolean;
  status: SessionEvents['tool_call']['status'];
  files: string[];
  diffs: FileDiff[];
  output: string;
  /** Whether the daemon has more of it. */
  cut: boolean;
}

/** A permission request or question, and its outcome. */
export interface OperatorRequest extends Base {
  kind: 'asked';
  request_id: string;
  text: string;
  command?: string | undefined;
  /** What else the tool call has, as JSON. */
  other_arguments?: string | undefined;
  outcome?: string | undefined;
}

/** Any other event, as text. */
export interface Note extends Base {
  kind: 'note';
  tone: 'quiet' | 'good' | 'warn' | 'bad';
  text: string;
  /** More text, shown on request. */
  detail?: string | undefined;
  /** The tab of the session that shows more. */
  tab?: 'plan' | 'diff' | undefined;
}

export type Entry = AgentText | ToolCall | OperatorRequest | Note;

/**
 * The approximate number of elements of an entry; 300 characters count as one. Content of closed disclosures is not
 * rendered.
 */
export const costOf = (entry: Entry): number => {
  if (entry.kind === 'call') return 14 + linesOf(entry) + charactersOf(entry) / 300;
  if (entry.kind === 'asked') return 10 + entry.text.length / 300;
  if (entry.kind === 'note') return 8 + (entry.text.length + (entry.detail?.length ?? 0)) / 300;
  const size = (entry.text.length + entry.rest.length) / 300;
  return 8 + size + (entry.kind === 'message' && isRendered(entry) ? marksIn(entry) : 0);
};

// Each of these renders to one or two elements once opened.
const linesOf = ({ files, diffs }: ToolCall): number =>
  2 * files.length + diffs.reduce((sum, { lines }) => sum + 4 + lines.length, 0);

const charactersOf = ({ title, output, files, diffs }: ToolCall): number =>
  title.length +
  output.length +
  files.join('').length +
  diffs.reduce((sum, { path, lines }) => sum + path.length + lines.join('').length, 0);

/** Markdown with more elements than this is shown as plain text. */
const MOST_OF_ONE = 300;

// Each of these may begin one or two elements.
const MARKS = /[-*+>#_`[|<@~]|\d[.)]|https?:|www\.|\n\n/g;

const marksIn = ({ text, rest }: AgentText): number =>
  ((text + rest).match(MARKS)?.length ?? 0) * 2;

/** Whether a message is rendered as Markdown: only if it is whole and not too large. */
export const isRendered = (said: AgentText): boolean =>
  !isCut(said) && marksIn(said) <= MOST_OF_ONE;

/** An event of this name. */
export type Of<E extends keyof SessionEvents> = Extract<SessionEvent, { event: E }>;

/** What every entry has of its first event. */
export const baseOf = ({ id, data }: SessionEvent) => ({ from: id, to: id, at: data.at ?? '' });
