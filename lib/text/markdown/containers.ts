import { advance, type LineCursor, lookAhead, skipOneSpace } from './line.ts';

/** A container block: a quote, or a list item with the indentation of its text. */
export type Container = { kind: 'quote' } | { kind: 'item'; width: number; empty: boolean };

/** The number of open containers that continue in this line; moves the cursor behind their marks. */
export const matchContainers = (containers: Container[], cursor: LineCursor): number => {
  const stop = containers.findIndex((container) => !matches(container, cursor));
  return stop === -1 ? containers.length : stop;
};

const matches = (container: Container, cursor: LineCursor): boolean => {
  const { indent, rest, blank } = lookAhead(cursor);
  if (container.kind === 'quote') return indent < 4 && rest.startsWith('>') && enterQuote(cursor);
  if (!blank && indent < container.width) return false;
  if (blank && container.empty) return false;
  advance(cursor, blank ? indent : container.width);
  return true;
};

const enterQuote = (cursor: LineCursor): true => {
  advance(cursor, lookAhead(cursor).indent + 1);
  skipOneSpace(cursor);
  return true;
};

/** The container that begins at the cursor, which moves behind its mark. Inside a paragraph, a list item needs more. */
export const openContainer = (cursor: LineCursor, paragraph: boolean): Container | undefined => {
  const { indent, rest } = lookAhead(cursor);
  if (indent >= 4) return undefined;
  if (rest.startsWith('>')) {
    enterQuote(cursor);
    return { kind: 'quote' };
  }
  const marker = /^(?:[*+-]|(\d{1,9})[.)])(?=[ \t]|$)/.exec(rest);
  if (marker === null || isRuler(rest) || (paragraph && isUnderline(rest))) return undefined;
  return openItem(cursor, { mark: marker[0], number: marker[1] }, paragraph);
};

interface Marker {
  mark: string;
  number: string | undefined;
}

const openItem = (
  cursor: LineCursor,
  { mark, number }: Marker,
  paragraph: boolean,
): Container | undefined => {
  const { indent, rest } = lookAhead(cursor);
  const bare = rest.slice(mark.length).trim() === '';
  if (paragraph && (bare || (number !== undefined && Number(number) !== 1))) return undefined;
  advance(cursor, indent + mark.length);
  const gap = lookAhead(cursor).indent;
  const padding = bare || gap > 4 ? 1 : gap;
  if (bare || gap > 4) skipOneSpace(cursor);
  else advance(cursor, gap);
  return { kind: 'item', width: indent + mark.length + padding, empty: true };
};

// In these functions `text` is a line without the marks of its containers.
export const isHeading = (text: string): boolean => /^#{1,6}(?:[ \t]|$)/.test(text);

/** The underline that makes the paragraph above it a heading. */
export const isUnderline = (text: string): boolean => /^(?:=+|-+)[ \t]*$/.test(text);

export const isRuler = (text: string): boolean =>
  /^(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/.test(text);

/** The fence that opens a code block, or undefined. */
export const fenceMark = (text: string): string | undefined => {
  const mark = /^(?:`{3,}|~{3,})/.exec(text)?.[0];
  return mark?.startsWith('`') && text.includes('`', mark.length) ? undefined : mark;
};
