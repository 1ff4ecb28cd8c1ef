import { lexer, type Token, type Tokens } from 'marked';

/** A block of a Markdown text. */
export interface Block {
  /** Its source. */
  raw: string;
  /** Its first line, from 1. */
  line: number;
  /** Undefined if the parser made no token of it: shown as source. */
  token: Token | undefined;
}

/** Larger texts are shown as source. In characters. */
const LARGEST = 256 * 1024;
const DEEPEST = 40;

/**
 * The blocks of a text, which joined are the whole text. Undefined if it is too large, nested too deeply or cannot be
 * parsed.
 */
export const blocksOf = (text: string): Block[] | undefined => {
  if (text.length > LARGEST) return undefined;
  try {
    const tokens = lexer(text, { gfm: true });
    if (tokens.some((token) => depthOf(token, 0) > DEEPEST)) return undefined;
    return locateBlocks(text.replace(/\r\n|\r/g, '\n'), tokens);
  } catch {
    // Nested deeper than the stack.
    return undefined;
  }
};

// The parser may skip text between tokens, or change the text of one; both become blocks without a token.
const locateBlocks = (source: string, tokens: readonly Token[]): Block[] => {
  const blocks: Block[] = [];
  let [at, line] = [0, 1];
  const add = (end: number, token?: Token): void => {
    const raw = source.slice(at, end);
    if (raw.trim() !== '') blocks.push({ raw, line, token });
    line += raw.split('\n').length - 1;
    at = end;
  };
  for (const token of tokens) {
    const start = source.startsWith(token.raw, at) ? at : source.indexOf(token.raw, at);
    if (start < 0) break;
    add(start);
    add(start + token.raw.length, token);
  }
  add(source.length);
  return blocks;
};

/** The approximate number of elements that a token renders to. */
export const sizeOf = (token: Token): number => {
  const {
    items = [],
    tokens = items,
    header = [],
    rows = [],
  } = token as Partial<Tokens.Table> & {
    items?: Token[];
    tokens?: Token[];
  };
  const cells = [header, ...rows].flat().flatMap((cell) => [cell, ...cell.tokens]);
  let size = 1 + cells.length;
  for (const one of tokens) size += sizeOf(one);
  return size;
};

const depthOf = (token: Token, above: number): number => {
  if (above > DEEPEST) return above;
  const { items, tokens = items } = token as { items?: Token[]; tokens?: Token[] };
  return Math.max(above, ...(tokens ?? []).map((one) => depthOf(one, above + 1)));
};
