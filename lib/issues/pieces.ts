/**
 * Cuts a Markdown text into pieces that can each be parsed alone, at headings and code blocks first. Together they hold
 * every line. No piece but a code block is longer than `MOST`, and none is nested deeper than `DEEPEST`: whatever the
 * text is, parsing it takes a time in proportion to its length.
 */
export const piecesOf = (markdown: string): string[] => {
  const cut: Cutting = { pieces: [], lines: [], size: 0, fence: undefined };
  for (const line of markdown.split('\n')) takeLine(cut, line);
  endPiece(cut);
  return cut.pieces;
};

// The parser needs time as the square of what it is given, for some texts.
const MOST = 4096;
const DEEPEST = 16;

interface Cutting {
  pieces: string[];
  lines: string[];
  size: number;
  /** The code block that is open. */
  fence: Fence | undefined;
}

interface Fence {
  mark: string;
  within: boolean;
}

const takeLine = (cut: Cutting, line: string): void => {
  const { fence } = cut;
  if (fence === undefined) takeText(cut, line);
  else takeCode(cut, fence, line);
};

const takeText = (cut: Cutting, line: string): void => {
  const [, indent = '', mark] = /^( {0,3})(`{3,}(?!.*`)|~{3,})/.exec(line) ?? [];
  if (mark === undefined && mayBegin(cut, line)) endPiece(cut);
  if (mark !== undefined && indent === '') endPiece(cut);
  if (mark === undefined) for (const part of partsOf(shallow(line))) push(cut, part);
  else push(cut, line);
  if (mark !== undefined) cut.fence = { mark, within: indent !== '' };
};

// A block that stands within a list may end with the list: only one that stands alone may be of any length.
const takeCode = (cut: Cutting, { mark, within }: Fence, line: string): void => {
  if (within) for (const part of partsOf(shallow(line))) push(cut, part);
  else cut.lines.push(line);
  const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1] ?? '';
  if (!closing.startsWith(mark)) return;
  cut.fence = undefined;
  if (!within) endPiece(cut);
};

const push = (cut: Cutting, line: string): void => {
  if (cut.size + line.length > MOST) endPiece(cut);
  cut.lines.push(line);
  cut.size += line.length + 1;
};

// A heading always may; another line where the piece is long already, and nothing before it goes on in it.
const mayBegin = ({ lines, size }: Cutting, line: string): boolean =>
  /^#{1,6}(?:[ \t]|$)/.test(line) ||
  (size > MOST / 2 && lines.at(-1)?.trim() === '' && /^\S/.test(line));

const partsOf = (line: string): string[] => {
  if (line.length <= MOST) return [line];
  return Array.from({ length: Math.ceil(line.length / MOST) }, (_, at) =>
    line.slice(at * MOST, (at + 1) * MOST),
  );
};

// Quotes in quotes and lists in lists on one line: nobody means more than a few.
const shallow = (line: string): string => {
  const marks = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)))+/.exec(line)?.[0] ?? '';
  if (marks.length <= DEEPEST) return line;
  const each = marks.match(/[ \t]*(?:>|[-*+]|\d{1,9}[.)])/g) ?? [];
  if (each.length <= DEEPEST) return line;
  return each.slice(0, DEEPEST).join('') + line.slice(marks.length);
};

const endPiece = (cut: Cutting): void => {
  if (cut.lines.length > 0) cut.pieces.push(cut.lines.join('\n'));
  cut.lines = [];
  cut.size = 0;
  cut.fence = undefined;
};
