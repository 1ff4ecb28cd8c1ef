/** A position in a line of Markdown. Tabs advance to the next multiple of four columns, as in CommonMark. */
export interface LineCursor {
  readonly text: string;
  offset: number;
  column: number;
  /** The cursor is inside a tab, whose remaining columns count as spaces. */
  in_tab: boolean;
}

interface Ahead {
  /** Columns of whitespace between the cursor and the next character. */
  indent: number;
  /** The text after the whitespace; empty on a blank line. */
  rest: string;
  blank: boolean;
}

const TAB_STOP = 4;

export const cursorAt = (text: string): LineCursor => ({
  text,
  offset: 0,
  column: 0,
  in_tab: false,
});

/** Reads past whitespace without moving. */
export const lookAhead = (cursor: LineCursor): Ahead => {
  let { offset, column } = cursor;
  while (isSpace(cursor.text[offset])) {
    column += widthAt(cursor.text, offset, column);
    offset += 1;
  }
  const rest = cursor.text.slice(offset);
  return { indent: column - cursor.column, rest, blank: rest === '' };
};

/** Moves by columns, possibly into a tab. */
export const advance = (cursor: LineCursor, columns: number): void => {
  let left = columns;
  while (left > 0 && cursor.offset < cursor.text.length) {
    const width = widthAt(cursor.text, cursor.offset, cursor.column);
    const step = Math.min(left, width);
    cursor.in_tab = step < width;
    cursor.column += step;
    if (!cursor.in_tab) cursor.offset += 1;
    left -= step;
  }
};

/** Skips the optional space after `>` or a list marker, also as part of a tab. */
export const skipOneSpace = (cursor: LineCursor): void => {
  if (isSpace(cursor.text[cursor.offset])) advance(cursor, 1);
};

/** The rest of the line, with a partly used tab as spaces. */
export const remainder = (cursor: LineCursor): string => {
  if (!cursor.in_tab) return cursor.text.slice(cursor.offset);
  const spaces = ' '.repeat(TAB_STOP - (cursor.column % TAB_STOP));
  return spaces + cursor.text.slice(cursor.offset + 1);
};

const isSpace = (char: string | undefined): boolean => char === ' ' || char === '\t';

const widthAt = (text: string, offset: number, column: number): number =>
  text[offset] === '\t' ? TAB_STOP - (column % TAB_STOP) : 1;
