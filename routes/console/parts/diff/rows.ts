import type { FilePatch } from '../../../../lib/text/patch.ts';
import { visible } from '../../../../store/base/visible.ts';

/** A line on the old side, the new side, or both. */
export interface Line {
  sign: ' ' | '+' | '-';
  before: number | undefined;
  after: number | undefined;
  text: string;
  /** The file ends without a newline here. */
  isOpen: boolean;
}

/** A line, or both sides of a line. */
export type RowOfLines = { file: number } & (
  | { kind: 'line'; line: Line }
  | { kind: 'pair'; left: Line | undefined; right: Line | undefined }
);

/** A row of the file with this index. */
export type Row =
  | RowOfLines
  | { file: number; kind: 'file' }
  | { file: number; kind: 'hunk' | 'note'; text: string };

/** The lines in a row. */
export const linesIn = (row: Row): Line[] => {
  if (row.kind === 'line') return [row.line];
  if (row.kind !== 'pair') return [];
  const { left, right } = row;
  return [left, right === left ? undefined : right].filter((line) => line !== undefined);
};

export type Layout = 'inline' | 'side';

/** The rows of a file's patch, without its header. */
export const rowsOf = (patch: FilePatch, file: number, layout: Layout): Row[] => {
  const notes = notesOf(patch).map((text): Row => ({ file, kind: 'note', text }));
  if (patch.isBinary) return notes;
  return [
    ...notes,
    ...hunksOf(patch.text).flatMap(({ header, lines }): Row[] => [
      { file, kind: 'hunk', text: header },
      ...(layout === 'side'
        ? pairsOf(lines).map((pair): Row => ({ file, kind: 'pair', ...pair }))
        : lines.map((line): Row => ({ file, kind: 'line', line }))),
    ]),
  ];
};

const notesOf = ({ isBinary, modes, from, added, removed, kind }: FilePatch): string[] => {
  const notes: string[] = [];
  if (from !== undefined)
    notes.push(`${kind === 'copied' ? 'Copied' : 'Renamed'} from ${oneLine(from)}`);
  if (modes !== undefined) notes.push(`Mode ${modes}`);
  if (isBinary) notes.push('Binary file not shown');
  return notes.length === 0 && added + removed === 0 ? ['Empty'] : notes;
};

/** A file name on one line, with all characters visible. */
export const oneLine = (name: string): string =>
  visible(name).replaceAll('\n', '␊').replaceAll('\t', '␉');

// Each line of a hunk has its sign, so one that begins with @ is the header of the next. A carriage return would end a line.
const hunksOf = (text: string) =>
  text
    .replaceAll('\r', '␍')
    .split('\n@@ ')
    .slice(1)
    .map((hunk) => {
      const [header = '', ...lines] = `@@ ${hunk}`.split('\n');
      return { header, lines: linesOf(header, lines) };
    });

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

const linesOf = (header: string, all: readonly string[]): Line[] => {
  let [, before = 0, after = 0] = (HUNK.exec(header) ?? []).map(Number);
  const lines: Line[] = [];
  for (const [at, line] of all.entries()) {
    const [sign] = line;
    if (sign !== ' ' && sign !== '+' && sign !== '-') continue;
    lines.push({
      sign,
      before: sign === '+' ? undefined : before++,
      after: sign === '-' ? undefined : after++,
      text: line.slice(1),
      // Git's remark on a missing newline follows the line.
      isOpen: all[at + 1]?.startsWith('\\') === true,
    });
  }
  return lines;
};

const pairsOf = (lines: readonly Line[]) => {
  const pairs: { left: Line | undefined; right: Line | undefined }[] = [];
  for (let at = 0; at < lines.length; ) {
    const gone = runOf(lines, at, '-');
    const come = runOf(lines, at + gone.length, '+');
    for (let one = 0; one < Math.max(gone.length, come.length); one++)
      pairs.push({ left: gone[one], right: come[one] });
    at += gone.length + come.length;
    const same = lines[at];
    if (same?.sign === ' ') {
      pairs.push({ left: same, right: same });
      at += 1;
    }
  }
  return pairs;
};

const runOf = (lines: readonly Line[], from: number, sign: Line['sign']): Line[] => {
  let to = from;
  while (lines[to]?.sign === sign) to += 1;
  return lines.slice(from, to);
};
