import { type HtmlEnd, htmlBlockEnd, startsHtmlBlock } from './markdown-html.ts';
import {
  advance,
  type Cursor,
  cursorAt,
  lookAhead,
  remainder,
  skipOneSpace,
} from './markdown-line.ts';

/** A fenced code block as a Markdown reader shows it. */
export interface Fence {
  /** The info string after the opening fence, trimmed. */
  info: string;
  /** Its lines, indentation of the fence and of the list or quote around it removed, each ended by `\n`. */
  content: string;
  /** The text just before it: the last line of a paragraph, or a heading. */
  lead: string;
}

type Container = { kind: 'quote' } | { kind: 'item'; width: number; empty: boolean };

type Leaf =
  | { kind: 'paragraph' }
  | { kind: 'indented' }
  | { kind: 'html'; end: HtmlEnd }
  | { kind: 'fence'; mark: string; indent: number; info: string; lines: string[] };

interface Document {
  containers: Container[];
  leaf: Leaf | undefined;
  lead: string;
  fences: Fence[];
}

/**
 * The fenced code blocks of a Markdown text, in order. It walks the block structure as CommonMark defines it (quotes,
 * lists, indented code, HTML, paragraphs), because only that tells a code block from text that looks like one: a
 * fence in a comment, in a longer fence or in indented code is no block, one in a list item is.
 */
export const readFences = (markdown: string): Fence[] => {
  const document: Document = { containers: [], leaf: undefined, lead: '', fences: [] };
  const lines = markdown.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) readLine(document, cursorAt(line));
  closeLeaf(document);
  return document.fences;
};

const readLine = (document: Document, cursor: Cursor): void => {
  const matched = matchContainers(document.containers, cursor);
  const all = matched === document.containers.length;
  if (all && continueLeaf(document, cursor)) return;
  const opened = openContainers(document, cursor, matched);
  if (openLeaf(document, cursor, opened, all)) return;
  readText(document, cursor, opened);
};

// How many of the open quotes and list items go on in this line.
const matchContainers = (containers: Container[], cursor: Cursor): number => {
  const stop = containers.findIndex((container) => !matches(container, cursor));
  return stop === -1 ? containers.length : stop;
};

const matches = (container: Container, cursor: Cursor): boolean => {
  const { indent, rest, blank } = lookAhead(cursor);
  if (container.kind === 'quote') return indent < 4 && rest.startsWith('>') && enterQuote(cursor);
  if (!blank && indent < container.width) return false;
  if (blank && container.empty) return false;
  advance(cursor, blank ? indent : container.width);
  return true;
};

const enterQuote = (cursor: Cursor): true => {
  advance(cursor, lookAhead(cursor).indent + 1);
  skipOneSpace(cursor);
  return true;
};

// Code and HTML take the line as it is; everything else may be interrupted by a new block.
const continueLeaf = (document: Document, cursor: Cursor): boolean => {
  const { leaf } = document;
  const { indent, rest, blank } = lookAhead(cursor);
  if (leaf?.kind === 'fence') return continueFence(document, leaf, cursor);
  if (leaf?.kind === 'indented') return indent >= 4 || blank;
  if (leaf?.kind !== 'html' || (blank && leaf.end === 'blank')) return false;
  if (leaf.end !== 'blank' && leaf.end.test(rest)) closeLeaf(document);
  return true;
};

const continueFence = (
  document: Document,
  fence: Extract<Leaf, { kind: 'fence' }>,
  cursor: Cursor,
): boolean => {
  const { indent, rest } = lookAhead(cursor);
  const closing = /^(?:`{3,}|~{3,})(?=[ \t]*$)/.exec(rest)?.[0] ?? '';
  if (indent < 4 && closing.startsWith(fence.mark)) {
    closeLeaf(document);
    return true;
  }
  advance(cursor, Math.min(indent, fence.indent));
  fence.lines.push(remainder(cursor));
  return true;
};

interface Opened {
  /** Quotes and list items that are open where the cursor stands. */
  depth: number;
  fresh: boolean;
}

const openContainers = (document: Document, cursor: Cursor, matched: number): Opened => {
  let depth = matched;
  let fresh = false;
  for (;;) {
    const paragraph = !fresh && isInParagraph(document, matched);
    const container = openContainer(cursor, paragraph);
    if (container === undefined) return { depth, fresh };
    begin(document, depth, undefined);
    document.containers.push(container);
    depth += 1;
    fresh = true;
  }
};

// Text goes on in a paragraph whose quotes and items all go on too: there a list needs more to begin.
const isInParagraph = (document: Document, matched: number): boolean =>
  document.leaf?.kind === 'paragraph' && matched === document.containers.length;

const openContainer = (cursor: Cursor, paragraph: boolean): Container | undefined => {
  const { indent, rest } = lookAhead(cursor);
  if (indent >= 4) return undefined;
  if (rest.startsWith('>')) {
    enterQuote(cursor);
    return { kind: 'quote' };
  }
  if (isRuler(rest) || (paragraph && isUnderline(rest))) return undefined;
  return openItem(cursor, paragraph);
};

const openItem = (cursor: Cursor, paragraph: boolean): Container | undefined => {
  const { indent, rest } = lookAhead(cursor);
  const marker = /^(?:[*+-]|(\d{1,9})[.)])(?=[ \t]|$)/.exec(rest);
  if (marker === null) return undefined;
  const [mark, number] = marker;
  const bare = rest.slice(mark.length).trim() === '';
  if (paragraph && (bare || (number !== undefined && Number(number) !== 1))) return undefined;
  advance(cursor, indent + mark.length);
  const gap = lookAhead(cursor).indent;
  const padding = bare || gap > 4 ? 1 : gap;
  if (bare || gap > 4) skipOneSpace(cursor);
  else advance(cursor, gap);
  return { kind: 'item', width: indent + mark.length + padding, empty: true };
};

const openLeaf = (document: Document, cursor: Cursor, opened: Opened, all: boolean): boolean => {
  const { indent, rest, blank } = lookAhead(cursor);
  const text = !opened.fresh && document.leaf?.kind === 'paragraph';
  if (blank || (indent >= 4 && text)) return false;
  if (indent >= 4) return begin(document, opened.depth, { kind: 'indented' });
  const fence = openFence(rest, indent);
  if (fence !== undefined) return begin(document, opened.depth, fence);
  const end = startsHtmlBlock(rest) ? htmlBlockEnd(rest, text) : undefined;
  if (end !== undefined) return beginHtml(document, opened.depth, end, rest);
  if (!isLineBlock(rest, text && all)) return false;
  begin(document, opened.depth, undefined);
  noteHeading(document, rest);
  return true;
};

const openFence = (rest: string, indent: number): Leaf | undefined => {
  const mark = /^(?:`{3,}(?!.*`)|~{3,})/.exec(rest)?.[0];
  if (mark === undefined) return undefined;
  return { kind: 'fence', mark, indent, info: rest.slice(mark.length).trim(), lines: [] };
};

const beginHtml = (document: Document, depth: number, end: HtmlEnd, rest: string): true => {
  begin(document, depth, { kind: 'html', end });
  if (end !== 'blank' && end.test(rest)) closeLeaf(document);
  return true;
};

// Blocks of a single line: headings, rulers, and the line under a paragraph that makes it a heading.
const isLineBlock = (rest: string, paragraph: boolean): boolean =>
  isHeading(rest) || (paragraph && isUnderline(rest)) || isRuler(rest);

const isHeading = (rest: string): boolean => /^#{1,6}(?:[ \t]|$)/.test(rest);
const isUnderline = (rest: string): boolean => /^(?:=+|-+)[ \t]*$/.test(rest);
const isRuler = (rest: string): boolean =>
  /^(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/.test(rest);

const noteHeading = (document: Document, rest: string): void => {
  if (isHeading(rest))
    document.lead = rest
      .replace(/^#+/, '')
      .replace(/[ \t]#+[ \t]*$/, '')
      .trim();
};

const readText = (document: Document, cursor: Cursor, opened: Opened): void => {
  const { rest, blank } = lookAhead(cursor);
  // A line of text goes on a paragraph even without the marks of its quote or list (a "lazy" continuation).
  const goesOn = !opened.fresh && !blank && document.leaf?.kind === 'paragraph';
  if (!goesOn) closeBelow(document, opened.depth);
  if (blank) return;
  if (!goesOn) begin(document, opened.depth, { kind: 'paragraph' });
  document.lead = rest.trim();
};

const begin = (document: Document, depth: number, leaf: Leaf | undefined): true => {
  closeBelow(document, depth);
  document.leaf = leaf;
  for (const container of document.containers)
    if (container.kind === 'item') container.empty = false;
  return true;
};

const closeBelow = (document: Document, depth: number): void => {
  closeLeaf(document);
  document.containers.length = depth;
};

const closeLeaf = (document: Document): void => {
  const { leaf } = document;
  document.leaf = undefined;
  if (leaf?.kind !== 'fence') return;
  const content = leaf.lines.map((line) => `${line}\n`).join('');
  document.fences.push({ info: leaf.info, content, lead: document.lead });
  document.lead = '';
};
