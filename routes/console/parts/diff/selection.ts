import type { FilePatch } from '../../../../lib/text/patch.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { Comment } from './review-state.ts';
import { linesIn, oneLine, type Row } from './rows.ts';

/** Selected rows of one file. */
export interface Selection {
  from: number;
  to: number;
  /** The index of the file. */
  file: number;
  /** The place of a comment on the selection. */
  about: Omit<Comment, 'path' | 'text'>;
}

/** Extends the selection to a row, or starts a new one. */
export const extendSelection = (
  rows: readonly Row[],
  range: Selection | undefined,
  to: number,
  isLonger: boolean,
): Selection => {
  const isSame = range !== undefined && rows[range.from]?.file === rows[to]?.file;
  const from = isLonger && isSame ? range.from : to;
  const taken = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { from, to, file: rows[to]?.file ?? 0, about: aboutOf(taken) };
};

// A selection of removed lines only refers to the old side.
const aboutOf = (rows: readonly Row[]): Selection['about'] => {
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

/** Whether a comment is about a line of the row, as it was quoted. */
export const isAbout = (
  { path, from, to, isOld, quoted }: Comment,
  of: string,
  row: Row,
): boolean => {
  if (path !== of) return false;
  const lines = quoted.split('\n');
  return linesIn(row).some(({ before, after, sign, text }) => {
    const number = (isOld ? before : after) ?? 0;
    return number >= from && number <= to && lines.includes(`${sign}${visible(text)}`);
  });
};

const SIGNS = { ' ': '', '+': 'added', '-': 'removed' };

/** Describes the selection for screen readers. */
export const describeSelection = (
  rows: readonly Row[],
  { to, about }: Selection,
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
