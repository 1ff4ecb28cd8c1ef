import type { SessionEvents } from '../../../../lib/client/client.ts';
import type { FileDiff } from './file-diffs.ts';

interface Base {
  /** The first and the last of the events that it is made of. */
  from: number;
  to: number;
  at: string;
}

/** What the agent says or thinks, its pieces put together. */
export interface Said extends Base {
  kind: 'message' | 'thought';
  /** Its beginning, and its end as far as that is more; between them something may be left out. */
  text: string;
  rest: string;
  /** Of all of it, in characters. */
  length: number;
}

/** Whether something of it is left out. */
export const isCut = ({ text, rest, length }: Said): boolean => length > text.length + rest.length;

/** A command, a block or a tool, as it was told last. */
export interface Called extends Base {
  kind: 'call';
  call_id: string;
  title: string;
  tool: string;
  status: SessionEvents['tool_call']['status'];
  files: string[];
  diffs: FileDiff[];
  output: string;
  /** Not all that the daemon has of it is here. */
  cut: boolean;
}

/** What the operator was asked, and how that ended. */
export interface Asked extends Base {
  kind: 'asked';
  request_id: string;
  text: string;
  command?: string | undefined;
  outcome?: string | undefined;
}

/** Anything else, in words. */
export interface Note extends Base {
  kind: 'note';
  tone: 'quiet' | 'good' | 'warn' | 'bad';
  text: string;
  /** More of it, to be unfolded. */
  detail?: string | undefined;
  /** The tab of the session that has more of it. */
  tab?: 'plan' | 'diff' | undefined;
}

export type Entry = Said | Called | Asked | Note;

/**
 * What it costs to have an entry on a page, in elements; so do 300 characters cost one. What is folded is not there as
 * elements.
 */
export const costOf = (entry: Entry): number => {
  if (entry.kind === 'call') return 14 + linesOf(entry) + charactersOf(entry) / 300;
  if (entry.kind === 'asked') return 10 + entry.text.length / 300;
  if (entry.kind === 'note') return 8 + (entry.text.length + (entry.detail?.length ?? 0)) / 300;
  const size = (entry.text.length + entry.rest.length) / 300;
  return 8 + size + (entry.kind === 'message' ? markdownCost(entry) : 0);
};

// Unfolded, each of these is an element or two.
const linesOf = ({ files, diffs }: Called): number =>
  2 * files.length + diffs.reduce((sum, { lines }) => sum + 4 + lines.length, 0);

const charactersOf = ({ title, output, files, diffs }: Called): number =>
  title.length +
  output.length +
  files.join('').length +
  diffs.reduce((sum, { path, lines }) => sum + path.length + lines.join('').length, 0);

/** What would be more elements as Markdown is shown as plain text. */
const MOST_OF_ONE = 300;

// Each of these can begin an element, or two.
const MARKS = /[-*+>#_`[|<@~]|\d[.)]|https?:|www\.|\n\n/g;

const markdownCost = (said: Said): number => (isRendered(said) ? marksIn(said) : 0);

const marksIn = ({ text, rest }: Said): number => ((text + rest).match(MARKS)?.length ?? 0) * 2;

/** Whether a message is shown as the Markdown that it is: where it is whole, and would not fill the page. */
export const isRendered = (said: Said): boolean => !isCut(said) && marksIn(said) <= MOST_OF_ONE;
