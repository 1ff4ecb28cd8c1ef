import type { Nodes, Parents, RootContent } from 'mdast';
import { fenceOff } from '../providers/fence-off.ts';
import { piecesOf } from './pieces.ts';

export interface Item {
  text: string;
  /** Null: no check box. */
  checked: boolean | null;
}

export interface Code {
  language: string | null;
  content: string;
}

/** A block of a document, with what stands in it however deep. */
export interface Block {
  kind: 'heading' | 'paragraph' | 'list' | 'code' | 'quote';
  /** Of a heading, 1 to 6; else 0. */
  level: number;
  /** Markdown as it was written; of a heading its words. */
  source: string;
  items: Item[];
  codes: Code[];
  /** What is written to be read, code left out. */
  prose: string;
}

/** The blocks of a Markdown text, in order, HTML comments left out. Gives way to other work now and then; never throws. */
export const blocksOf = async (markdown: string): Promise<Block[]> => {
  const { fromMarkdown } = await import('mdast-util-from-markdown');
  const blocks: Block[] = [];
  for (const piece of piecesOf(markdown)) {
    blocks.push(...blocksOfPiece(piece, (text) => fromMarkdown(text, PARSING).children));
    await new Promise((resume) => setImmediate(resume));
  }
  return blocks;
};

// Blocks alone are parsed. What stands within a line is looked for in its source, in a time that its length bounds.
const PARSING = {
  extensions: [
    {
      disable: {
        null: [
          ...['attention', 'autolink', 'characterEscape', 'characterReference', 'codeText'],
          ...['hardBreakEscape', 'htmlText', 'labelEnd', 'labelStartImage', 'labelStartLink'],
          // Its time grows as the square of a text.
          'setextUnderline',
        ],
      },
    },
  ],
};

const blocksOfPiece = (piece: string, parse: (text: string) => RootContent[]): Block[] => {
  try {
    const read = { piece, blocks: [] as Block[] };
    for (const node of parse(piece)) readNode(read, node);
    return read.blocks;
  } catch {
    // What the parser trips over is still text that a person wrote.
    return [paragraph(piece)];
  }
};

interface Reading {
  piece: string;
  blocks: Block[];
}

const readNode = (read: Reading, node: RootContent): void => {
  const { piece, blocks } = read;
  const source = sourceOf(piece, node);
  if (node.type === 'heading')
    blocks.push({ ...EMPTY, kind: 'heading', level: node.depth, source: wordsOf(piece, node) });
  if (node.type === 'paragraph') blocks.push(...underlined(source));
  if (node.type === 'thematicBreak') underline(read, node);
  if (node.type === 'html') blocks.push(...textOfHtml(source));
  if (node.type === 'definition') blocks.push(paragraph(source));
  if (node.type === 'list') blocks.push(withParts(piece, node, 'list'));
  if (node.type === 'blockquote') blocks.push(withParts(piece, node, 'quote'));
  if (node.type === 'code') blocks.push(codeBlock(codeOf(node)));
};

const EMPTY = { level: 0, items: [], codes: [], prose: '' };

// Ended, also where nobody ended it.
const codeBlock = (code: Code): Block => ({
  ...EMPTY,
  kind: 'code',
  source: fenceOff(code.content, code.language ?? ''),
  codes: [code],
});

const sourceOf = (piece: string, { position }: Nodes): string =>
  withoutComments(piece.slice(position?.start.offset ?? 0, position?.end.offset ?? 0));

/** The text less its HTML comments; one that is never ended goes on to the end. */
const withoutComments = (text: string): string => {
  if (!text.includes('<!--')) return text;
  const [first = '', ...rest] = text.split('<!--');
  const left = rest.map((part) => {
    const end = part.indexOf('-->');
    return end === -1 ? '' : part.slice(end + 3);
  });
  return [first, ...left].join('').trim();
};

const wordsOf = (piece: string, node: Parents): string => {
  const [first, last] = [node.children.at(0), node.children.at(-1)];
  if (first === undefined || last === undefined) return '';
  return withoutComments(
    piece.slice(first.position?.start.offset ?? 0, last.position?.end.offset ?? 0),
  );
};

const paragraph = (source: string): Block => ({
  ...EMPTY,
  kind: 'paragraph',
  source,
  prose: source,
});

const heading = (source: string, level: number): Block => ({
  ...EMPTY,
  kind: 'heading',
  level,
  source: source.trim(),
});

// Lines with a line of `===` or `--` below them are a heading.
const underlined = (source: string): Block[] => {
  const blocks: Block[] = [];
  const lines: string[] = [];
  for (const line of source.split('\n')) {
    const level = lines.length === 0 ? 0 : levelOf(line);
    if (level === 0) lines.push(line);
    else blocks.push(heading(lines.splice(0).join(' '), level));
  }
  const rest = lines.join('\n').trim();
  return rest === '' ? blocks : [...blocks, paragraph(rest)];
};

const levelOf = (line: string): number => {
  if (/^ {0,3}=+[ \t]*$/.test(line)) return 1;
  return /^ {0,3}-+[ \t]*$/.test(line) ? 2 : 0;
};

// `---` right below a paragraph underlines it, too.
const underline = ({ piece, blocks }: Reading, { position }: RootContent): void => {
  const { start, end } = position ?? {};
  const above = piece.slice(0, start?.offset ?? 0);
  const last = blocks.at(-1);
  if (last?.kind !== 'paragraph' || /\n[ \t]*\n[ \t]*$/.test(above.slice(-200))) return;
  if (!above.trimEnd().endsWith(last.source.slice(-40))) return;
  if (levelOf(piece.slice(start?.offset ?? 0, end?.offset ?? 0)) !== 2) return;
  blocks.splice(-1, 1, heading(last.source.replaceAll('\n', ' '), 2));
};

const textOfHtml = (source: string): Block[] => {
  const text = source.replace(/<\/?[a-z][^<>]{0,1000}>/gi, '').trim();
  return text === '' ? [] : [paragraph(text)];
};

const codeOf = ({ lang, value }: Extract<Nodes, { type: 'code' }>): Code => ({
  language: lang?.toLowerCase() ?? null,
  content: value,
});

const withParts = (piece: string, node: Parents, kind: 'list' | 'quote'): Block => {
  const source = sourceOf(piece, node);
  const parts: Parts = { items: [], codes: [], prose: [] };
  gather(piece, node, parts);
  return { level: 0, kind, source, ...parts, prose: parts.prose.join('\n') };
};

interface Parts {
  items: Item[];
  codes: Code[];
  prose: string[];
}

const gather = (piece: string, node: Parents, parts: Parts): void => {
  if (node.type === 'listItem') parts.items.push(itemOf(piece, node));
  for (const child of node.children) {
    if (child.type === 'code') parts.codes.push(codeOf(child));
    if (child.type === 'paragraph' || child.type === 'heading')
      parts.prose.push(unmarked(sourceOf(piece, child)));
    else if ('children' in child) gather(piece, child, parts);
  }
};

const itemOf = (piece: string, node: Parents): Item => {
  const first = node.children.at(0);
  const text = first?.type === 'paragraph' ? unmarked(sourceOf(piece, first)) : '';
  const [, box, words] = /^\[([ xX])\][ \t]+([\s\S]*)$/.exec(text) ?? [];
  const checked = box === undefined ? null : box !== ' ';
  const line = (words ?? text).replace(/\s+/g, ' ').trim();
  return { text: line + shownBy(line, node.children.at(1)), checked };
};

// "Run:" and a line of code below it are one step.
const shownBy = (line: string, next: Nodes | undefined): string => {
  if (!line.endsWith(':') || next?.type !== 'code') return '';
  const code = next.value.trim();
  return code === '' || code.length > 200 || /[\n`]/.test(code) ? '' : ` \`${code}\``;
};

// Lines after the first keep the indentation and the marks of the quotes that they stand in.
const unmarked = (source: string): string => source.replace(/\n[ \t>]*/g, '\n');
