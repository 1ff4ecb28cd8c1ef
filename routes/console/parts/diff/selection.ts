import type { FilePatch } from '../../../../lib/text/patch.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { Comment } from './review-state.ts';
import { linesIn, oneLine, type Row } from './rows.ts';

/** Rows of one file, from where it was begun to where one is. */
export interface Range {
  from: number;
  to: number;
  /** Which one. */
  file: number;
  /** What is spoken of, but for the file's path and the words. */
  about: Omit<Comment, 'path' | 'text'>;
}

/** The range after a row was gone to: a longer one, or the row alone. */
export const stretch = (
  rows: readonly Row[],
  range: Range | undefined,
  to: number,
  isLonger: boolean,
): Range => {
  const isSame = range !== undefined && rows[range.from]?.file === rows[to]?.file;
  const from = isLonger && isSame ? range.from : to;
  const taken = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { from, to, file: rows[to]?.file ?? 0, about: aboutOf(taken) };
};

// Where no line of the new side is among them, it is the old one that is spoken of.
const aboutOf = (rows: readonly Row[]): Range['about'] => {
  const lines = rows.flatMap(linesIn);
  const isOld = lines.every(({ after }) => after === undefined);
  const numbers = lines.flatMap(({ before, after }) => (isOld ? before : after) ?? []);
  return {
    isOld,
    from: numbers[0] ?? 0,
    to: numbers.at(-1) ?? 0,
    quoted: lines
      .map(({ sign, text }) => `${sign}${visible(text)}`)
      .join('\n')
      .slice(0, MOST),
  };
};

const MOST = 4000;

const SIGNS = { ' ': '', '+': 'added', '-': 'removed' };

/** Where one is, for those who hear it. */
export const spoken = (
  rows: readonly Row[],
  { to, about }: Range,
  files: readonly FilePatch[],
): string => {
  const row = rows[to];
  if (row === undefined) return '';
  const lines = linesIn(row).map(({ sign, text, before, after }) =>
    `${SIGNS[sign]} ${after ?? before}: ${visible(text).slice(0, 300)}`.trim(),
  );
  const extent = about.from === about.to ? '' : `, lines ${about.from} to ${about.to}`;
  return `${oneLine(files[row.file]?.path ?? '')}${extent}, ${lines.join('; ')}`;
};
