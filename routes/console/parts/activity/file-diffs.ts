import type { SessionEvent } from '../../../../lib/client/client.ts';
import { shorten } from '../../../../lib/text/wording.ts';
import { diffLines } from '../text-diff.tsx';

type Diffs = NonNullable<Extract<SessionEvent, { event: 'tool_call' }>['data']['diffs']>;

/** The changes of a call in one file. Each line begins with a blank, `+` or `-`. */
export interface FileDiff {
  path: string;
  lines: string[];
  /** The number of lines left out. */
  more: number;
}

/** The lengths of the parts to keep, in characters. */
interface Keep {
  head: number;
  tail: number;
}

/** Shortens a text to its head and tail, with a line that counts what is left out. */
export const cutText = (text: string, { head, tail }: Keep): string => {
  if (text.length <= head + tail) return text;
  const out = text.length - head - tail;
  return `${text.slice(0, head)}\n… ${out.toLocaleString('en')} characters are left out here …\n${text.slice(text.length - tail)}`;
};

/** The changes of a call: at most `most` lines in all files, of at most `longest` characters each. */
export const fileDiffs = (diffs: Diffs, most: number, longest = 400): FileDiff[] => {
  let left = most;
  return diffs.map(({ path, old_text, new_text }) => {
    const lines = changedLines(old_text ?? '', new_text);
    const shown = lines.slice(0, left).map((line) => shorten(line, longest, ' …'));
    left -= shown.length;
    return { path, lines: shown, more: lines.length - shown.length };
  });
};

const CONTEXT = 3;
/** Lower than for whole texts: a stream may carry many of these differences. */
const MAX_PAIRS = 250_000;

/** The changed lines with three lines of context. */
const changedLines = (before: string, after: string): string[] => {
  const lines = diffLines(split(before), split(after), MAX_PAIRS);
  const isChanged = (line: string): boolean => !line.startsWith(' ');
  const first = lines.findIndex(isChanged);
  if (first < 0) return lines.slice(-CONTEXT);
  return lines.slice(Math.max(first - CONTEXT, 0), lines.findLastIndex(isChanged) + 1 + CONTEXT);
};

const split = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
