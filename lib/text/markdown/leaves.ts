import {
  type Container,
  fenceMark,
  isHeading,
  isRuler,
  isUnderline,
  matchContainers,
  openContainer,
} from './containers.ts';
import { type HtmlEnd, htmlBlockEnd } from './html.ts';
import { advance, cursorAt, type LineCursor, lookAhead, remainder } from './line.ts';

/** A leaf block of a Markdown text. */
export interface Leaf {
  kind: 'paragraph' | 'heading' | 'fence' | 'indented' | 'html' | 'rule';
  /** Its containers, the outermost first; the same object for the same container. */
  within: readonly Container[];
  /** Its whole lines in the text, without the final newline. */
  start: number;
  end: number;
  /** Its content without marks and indentation of its containers, and the offset where it begins. */
  lines: { text: string; at: number }[];
  /** The level of a heading, 1 to 6; else 0. */
  level: number;
  /** The info string of a fence, trimmed. */
  info: string;
}

interface Leaves {
  leaves: Leaf[];
  /** The number of the first line nested deeper than `DEEPEST`: the rest of the text is one paragraph. */
  too_deep: number | undefined;
}

/** The deepest nesting of containers. Real texts have less, and the parsing time grows with it. */
export const DEEPEST = 32;

/**
 * The leaf blocks of a Markdown text, in order, in linear time. Follows CommonMark's block structure (quotes, lists, indented
 * code, HTML, paragraphs) to distinguish code blocks from text that looks like one: a fence in a comment, in a longer fence or
 * in indented code is no block, one in a list item is.
 */
export const readLeaves = (markdown: string): Leaves => {
  const document: Document = {
    containers: [],
    leaf: undefined,
    leaves: [],
    line: { text: '', at: 0 },
    deep: false,
  };
  const lines = linesOf(markdown);
  for (const [at, line] of lines.entries()) {
    document.line = line;
    readLine(document, cursorAt(line.text));
    if (document.deep) return { leaves: rest(document, lines.slice(at)), too_deep: at + 1 };
  }
  closeLeaf(document);
  return { leaves: document.leaves, too_deep: undefined };
};

type Open = Leaf & { until?: HtmlEnd; mark?: string; indent?: number };

interface Document {
  containers: Container[];
  leaf: Open | undefined;
  leaves: Leaf[];
  /** The current line. */
  line: Leaf['lines'][number];
  deep: boolean;
}

const linesOf = (markdown: string): Leaf['lines'] => {
  const lines: Leaf['lines'] = [];
  let at = markdown.startsWith('\uFEFF') ? 1 : 0;
  for (const { index, 0: end } of markdown.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ text: markdown.slice(at, index), at });
    at = index + end.length;
  }
  if (at < markdown.length) lines.push({ text: markdown.slice(at), at });
  return lines;
};

const rest = (document: Document, lines: Leaf['lines']): Leaf[] => {
  closeBelow(document, 0);
  const [first = document.line, last = first] = [lines[0], lines.at(-1)];
  const end = last.at + last.text.length;
  const besides = { start: first.at, end, lines, level: 0, info: '' };
  return [...document.leaves, { kind: 'paragraph', within: [], ...besides }];
};

const readLine = (document: Document, cursor: LineCursor): void => {
  const matched = matchContainers(document.containers, cursor);
  const all = matched === document.containers.length;
  if (all && continueLeaf(document, cursor)) return;
  const opened = openContainers(document, cursor, matched);
  if (document.deep || openLeaf(document, cursor, opened, all)) return;
  readText(document, cursor, opened);
};

// Code and HTML take the line unchanged; a new block may interrupt everything else.
const continueLeaf = (document: Document, cursor: LineCursor): boolean => {
  const { leaf } = document;
  const { rest: text, blank } = lookAhead(cursor);
  if (leaf?.kind === 'fence') return continueFence(document, leaf, cursor);
  if (leaf?.kind === 'indented') return continueIndented(document, leaf, cursor);
  if (leaf?.kind !== 'html' || (blank && leaf.until === 'blank')) return false;
  take(document, leaf, remainder(cursor));
  if (leaf.until instanceof RegExp && leaf.until.test(text)) closeLeaf(document);
  return true;
};

const continueFence = (document: Document, fence: Open, cursor: LineCursor): boolean => {
  const { indent, rest: text } = lookAhead(cursor);
  const closing = /^(?:`{3,}|~{3,})(?=[ \t]*$)/.exec(text)?.[0] ?? '';
  if (indent < 4 && closing.startsWith(fence.mark ?? '')) {
    fence.end = endOf(document);
    closeLeaf(document);
    return true;
  }
  advance(cursor, Math.min(indent, fence.indent ?? 0));
  take(document, fence, remainder(cursor));
  return true;
};

const INDENTED = 4;

const continueIndented = (document: Document, leaf: Open, cursor: LineCursor): boolean => {
  const { indent, blank } = lookAhead(cursor);
  if (indent < INDENTED && !blank) return false;
  advance(cursor, Math.min(indent, INDENTED));
  take(document, leaf, remainder(cursor));
  return true;
};

interface Opened {
  /** The open containers at the cursor. */
  depth: number;
  fresh: boolean;
}

const openContainers = (document: Document, cursor: LineCursor, matched: number): Opened => {
  let depth = matched;
  let fresh = false;
  for (;;) {
    const paragraph = !fresh && isInParagraph(document, matched);
    const container = openContainer(cursor, paragraph);
    document.deep = container !== undefined && depth === DEEPEST;
    if (container === undefined || document.deep) return { depth, fresh };
    begin(document, depth, undefined);
    document.containers.push(container);
    depth += 1;
    fresh = true;
  }
};

// The line continues a paragraph whose containers all continue: a list needs more to interrupt it.
const isInParagraph = (document: Document, matched: number): boolean =>
  document.leaf?.kind === 'paragraph' && matched === document.containers.length;

const openLeaf = (
  document: Document,
  cursor: LineCursor,
  opened: Opened,
  all: boolean,
): boolean => {
  const { indent, rest: text, blank } = lookAhead(cursor);
  const inText = !opened.fresh && document.leaf?.kind === 'paragraph';
  if (blank || (indent >= INDENTED && inText)) return false;
  if (indent >= INDENTED) return openIndented(document, cursor, opened);
  const mark = fenceMark(text);
  if (mark !== undefined) {
    const info = text.slice(mark.length).trim();
    return begin(document, opened.depth, { kind: 'fence', info, mark, indent });
  }
  const until = htmlBlockEnd(text, inText && all);
  if (until !== undefined) return openHtml(document, opened.depth, until, text);
  return (inText && all && underline(document, text)) || openLine(document, opened, text);
};

const openIndented = (document: Document, cursor: LineCursor, { depth }: Opened): boolean => {
  begin(document, depth, { kind: 'indented' });
  if (document.leaf !== undefined) continueIndented(document, document.leaf, cursor);
  return true;
};

const openHtml = (document: Document, depth: number, until: HtmlEnd, text: string): boolean => {
  begin(document, depth, { kind: 'html', until });
  if (document.leaf !== undefined) take(document, document.leaf, text);
  if (until !== 'blank' && until.test(text)) closeLeaf(document);
  return true;
};

// The underline of a heading.
const underline = (document: Document, text: string): boolean => {
  const { leaf } = document;
  if (leaf === undefined || !isUnderline(text)) return false;
  Object.assign(leaf, { kind: 'heading', level: text.startsWith('=') ? 1 : 2 });
  leaf.end = endOf(document);
  closeLeaf(document);
  return true;
};

// Single-line blocks: headings and thematic breaks.
const openLine = (document: Document, { depth }: Opened, text: string): boolean => {
  if (!isHeading(text)) return isRuler(text) && begin(document, depth, { kind: 'rule' });
  const level = text.search(/[^#]|$/);
  begin(document, depth, { kind: 'heading', level });
  const words = text.slice(level).trimStart();
  const closing = /(?:^|[ \t])#+$/.exec(words.trimEnd())?.[0] ?? '';
  const said = words.trimEnd().slice(0, words.trimEnd().length - closing.length);
  if (document.leaf !== undefined) take(document, document.leaf, said.trimEnd(), words.length);
  return true;
};

const readText = (document: Document, cursor: LineCursor, opened: Opened): void => {
  const { rest: text, blank } = lookAhead(cursor);
  // A line continues a paragraph even without the marks of its containers (a lazy continuation).
  const goesOn = !opened.fresh && !blank && document.leaf?.kind === 'paragraph';
  if (!goesOn) closeBelow(document, opened.depth);
  if (blank) return;
  if (!goesOn) begin(document, opened.depth, { kind: 'paragraph' });
  if (document.leaf !== undefined) take(document, document.leaf, text);
};

const endOf = ({ line }: Document): number => line.at + line.text.length;

// Appends a line to a leaf; `from` is the length of its text.
const take = (document: Document, leaf: Open, text: string, from = text.length): void => {
  leaf.end = endOf(document);
  leaf.lines.push({ text, at: leaf.end - from });
};

const begin = (
  document: Document,
  depth: number,
  opening: (Pick<Open, 'kind'> & Partial<Open>) | undefined,
): true => {
  closeBelow(document, depth);
  for (const container of document.containers)
    if (container.kind === 'item') container.empty = false;
  if (opening === undefined) return true;
  const at = { start: document.line.at, end: endOf(document) };
  const within = [...document.containers];
  document.leaf = { within, ...at, lines: [], level: 0, info: '', ...opening };
  if (opening.kind === 'rule') closeLeaf(document);
  return true;
};

const closeBelow = (document: Document, depth: number): void => {
  closeLeaf(document);
  document.containers.length = depth;
};

const closeLeaf = (document: Document): void => {
  const { leaf } = document;
  document.leaf = undefined;
  if (leaf === undefined) return;
  if (leaf.kind === 'indented') while (leaf.lines.at(-1)?.text.trim() === '') leaf.lines.pop();
  document.leaves.push(leaf);
};
