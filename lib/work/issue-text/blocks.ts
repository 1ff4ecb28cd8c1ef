import { fenceOff } from '../../../store/base/text.ts';
import type { Container } from '../../text/markdown/containers.ts';
import { type Leaf, readLeaves } from '../../text/markdown/leaves.ts';

interface Item {
  text: string;
  /** Null without a check box. */
  checked: boolean | null;
}

export interface Code {
  language: string | null;
  content: string;
}

/** A block of a document, with everything nested in it. */
export interface Block {
  kind: 'heading' | 'paragraph' | 'list' | 'code' | 'quote';
  /** 1 to 6 for a heading, else 0. */
  level: number;
  /** The Markdown source; for a heading its text. */
  source: string;
  items: Item[];
  codes: Code[];
  /** The text without code. */
  prose: string;
}

/** The blocks of a Markdown text in order, without HTML comments, in linear time. */
export const blocksOf = (markdown: string): Block[] =>
  outermost(readLeaves(markdown).leaves).flatMap((leaves) => {
    const [first] = leaves;
    const outside = first?.within[0];
    if (first === undefined) return [];
    if (outside === undefined) return blockOf(first, markdown);
    return [withParts(markdown, leaves, outside.kind === 'quote' ? 'quote' : 'list')];
  });

// Groups the leaves of one quote or one list; every other leaf is a group of its own.
const outermost = (leaves: readonly Leaf[]): Leaf[][] => {
  const groups: Leaf[][] = [];
  let before: Container | undefined;
  for (const leaf of leaves) {
    const outside = leaf.within[0];
    const goesOn = outside === before || (outside?.kind === 'item' && before?.kind === 'item');
    if (outside !== undefined && goesOn) groups.at(-1)?.push(leaf);
    else groups.push([leaf]);
    before = outside;
  }
  return groups;
};

const blockOf = (leaf: Leaf, markdown: string): Block[] => {
  const { kind, level } = leaf;
  const source = withoutComments(textOf(leaf));
  if (kind === 'heading')
    return [{ ...EMPTY, kind, level, source: source.replaceAll('\n', ' ').trim() }];
  if (kind === 'paragraph') return paragraph(source);
  if (kind === 'html') return paragraph(withoutTags(withoutComments(sourceOf(markdown, [leaf]))));
  return isCode(leaf) ? [codeBlock(codeOf(leaf))] : [];
};

const EMPTY = { level: 0, items: [], codes: [], prose: '' };

const textOf = ({ lines }: Leaf): string =>
  lines
    .map(({ text }) => text)
    .join('\n')
    .trimEnd();

const sourceOf = (markdown: string, leaves: readonly Leaf[]): string =>
  markdown.slice(leaves.at(0)?.start, leaves.at(-1)?.end).trim();

/** Removes HTML comments; an unclosed one extends to the end. */
const withoutComments = (text: string): string => {
  if (!text.includes('<!--')) return text;
  const [first = '', ...rest] = text.split('<!--');
  const left = rest.map((part) => {
    const end = part.indexOf('-->');
    return end === -1 ? '' : part.slice(end + 3);
  });
  return [first, ...left].join('').trim();
};

const withoutTags = (html: string): string => html.replace(/<\/?[a-z][^<>]{0,1000}>/gi, '').trim();

const paragraph = (source: string): Block[] =>
  source === '' ? [] : [{ ...EMPTY, kind: 'paragraph', source, prose: source }];

const isCode = ({ kind }: Leaf): boolean => kind === 'fence' || kind === 'indented';

const codeOf = ({ info, lines }: Leaf): Code => ({
  language: info === '' ? null : (info.split(/[ \t]/, 1)[0]?.toLowerCase() ?? null),
  content: lines.map(({ text }) => text).join('\n'),
});

// The fence is closed even where the source leaves it open.
const codeBlock = (code: Code): Block => ({
  ...EMPTY,
  kind: 'code',
  source: fenceOff(code.content, code.language ?? ''),
  codes: [code],
});

const withParts = (markdown: string, leaves: readonly Leaf[], kind: 'list' | 'quote'): Block => ({
  kind,
  level: 0,
  source: withoutComments(sourceOf(markdown, leaves)),
  items: itemsOf(leaves),
  codes: leaves.filter(isCode).map(codeOf),
  prose: leaves
    .filter(({ kind: is }) => is === 'paragraph' || is === 'heading')
    .map((leaf) => withoutComments(textOf(leaf)))
    .join('\n'),
});

// An item is represented by its first leaf.
const itemsOf = (leaves: readonly Leaf[]): Item[] => {
  const seen = new Set<Container>();
  return leaves.flatMap((leaf, at) => {
    const item = leaf.within.findLast((one) => one.kind === 'item');
    if (item === undefined || seen.has(item)) return [];
    for (const one of leaf.within) seen.add(one);
    return [itemOf(leaf, leaves[at + 1], item)];
  });
};

const itemOf = (first: Leaf, next: Leaf | undefined, item: Container): Item => {
  const begins = first.kind === 'paragraph' && first.within.at(-1) === item;
  const text = begins ? withoutComments(textOf(first)) : '';
  const [, box, words] = /^\[([ xX])\][ \t]+([\s\S]*)$/.exec(text) ?? [];
  const checked = box === undefined ? null : box !== ' ';
  const line = (words ?? text).replace(/\s+/g, ' ').trim();
  const shown = next?.within.at(-1) === item ? shownBy(line, next) : '';
  return { text: line + shown, checked };
};

// "Run:" with a line of code below it is one step.
const shownBy = (line: string, next: Leaf): string => {
  if (!line.endsWith(':') || !isCode(next)) return '';
  const code = codeOf(next).content.trim();
  return code === '' || code.length > 200 || /[\n`]/.test(code) ? '' : ` \`${code}\``;
};
