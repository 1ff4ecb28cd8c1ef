/** One place where the sides differ, as the marks in a file have it. */
export interface Hunk {
  /** Of the first mark, from 1. */
  line: number;
  /** Of what the branch is put onto. */
  ours: string;
  /** Before both; undefined where git was not told to write it. */
  base: string | undefined;
  /** Of the branch. */
  theirs: string;
}

type Side = 'ours' | 'base' | 'theirs';

const MARKS: readonly (readonly [RegExp, Side | 'end'])[] = [
  [/^<{7}(?: |$)/, 'ours'],
  [/^\|{7}(?: |$)/, 'base'],
  [/^={7}$/, 'theirs'],
  [/^>{7}(?: |$)/, 'end'],
];

/** The places of a text that have marks. What only looks like one, out of order, is text. */
export const hunksOf = (text: string): Hunk[] => {
  const hunks: Hunk[] = [];
  let open: (Pick<Hunk, 'line'> & Record<Side, string[]>) | undefined;
  let side: Side = 'ours';
  for (const [at, line] of text.split('\n').entries()) {
    const mark = MARKS.find(([pattern]) => pattern.test(line))?.[1];
    if (mark === 'ours') {
      open = { line: at + 1, ours: [], base: [], theirs: [] };
      side = 'ours';
    } else if (open !== undefined && mark === 'end') {
      hunks.push(closed(open));
      open = undefined;
    } else if (open !== undefined && mark !== undefined && side !== 'theirs') side = mark as Side;
    else open?.[side].push(line);
  }
  return hunks;
};

const closed = ({ line, ours, base, theirs }: Pick<Hunk, 'line'> & Record<Side, string[]>) => ({
  ...{ line, ours: ours.join('\n'), theirs: theirs.join('\n') },
  base: base.length === 0 ? undefined : base.join('\n'),
});
