import type { SessionEvent } from '../../../../lib/client/client.ts';

type Diffs = NonNullable<Extract<SessionEvent, { event: 'tool_call' }>['data']['diffs']>;

/** What a call changed in one file, line by line: each begins with a blank, `+` or `-`. */
export interface FileDiff {
  path: string;
  lines: string[];
  /** How many lines more there are. */
  more: number;
}

/** How much of a text is kept, in characters: its head and its tail. */
interface Keep {
  head: number;
  tail: number;
}

/** The text, or its two ends with a line between that counts what is left out. */
export const cutText = (text: string, { head, tail }: Keep): string => {
  if (text.length <= head + tail) return text;
  const out = text.length - head - tail;
  return `${text.slice(0, head)}\n… ${out.toLocaleString('en')} characters are left out here …\n${text.slice(text.length - tail)}`;
};

/** What a call changes in files: so many lines of all of them, each no longer than can be read. */
export const fileDiffs = (diffs: Diffs, most: number, longest = 400): FileDiff[] => {
  let left = most;
  return diffs.map(({ path, old_text, new_text }) => {
    const lines = linesOf(old_text ?? '', new_text);
    const shown = lines.slice(0, left).map((line) => shorten(line, longest));
    left -= shown.length;
    return { path, lines: shown, more: lines.length - shown.length };
  });
};
const shorten = (line: string, most: number): string =>
  line.length > most ? `${line.slice(0, most)} …` : line;

const CONTEXT = 3;
/** More pairs of lines than these are not compared one by one: all old ones go, all new ones come. */
const MOST_PAIRS = 250_000;

const linesOf = (before: string, after: string): string[] => {
  const [old, now] = [split(before), split(after)];
  const least = Math.min(old.length, now.length);
  let start = 0;
  while (start < least && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < least - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const changed = difference(
    old.slice(start, old.length - end),
    now.slice(start, now.length - end),
  );
  const above = now.slice(Math.max(start - CONTEXT, 0), start);
  const below = now.slice(now.length - end, now.length - end + CONTEXT);
  return [...above.map(same), ...changed, ...below.map(same)];
};

const split = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
const same = (line: string): string => ` ${line}`;

const difference = (old: readonly string[], now: readonly string[]): string[] =>
  old.length * now.length > MOST_PAIRS
    ? [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)]
    : compared(old, now);

// The longest common subsequence of what is left between what is the same above and below.
const compared = (old: readonly string[], now: readonly string[]): string[] => {
  const longest = lengthsOf(old, now);
  const at = (i: number, j: number): number => longest[i * (now.length + 1) + j] ?? 0;
  const lines: string[] = [];
  for (let [i, j] = [0, 0]; i < old.length || j < now.length; )
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(` ${old[i]}`);
      [i, j] = [i + 1, j + 1];
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`-${old[i]}`);
      i += 1;
    } else {
      lines.push(`+${now[j]}`);
      j += 1;
    }
  return lines;
};

const lengthsOf = (old: readonly string[], now: readonly string[]): Uint32Array => {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        old[i] === now[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  return lengths;
};
