import { lexer, type Token, type Tokens } from 'marked';

/** A block of a Markdown text, in its order. */
export interface Block {
  /** As it is written. */
  raw: string;
  /** Its first line, from 1. */
  line: number;
  /** Undefined where the parser has none for this text: it is shown as source. */
  token: Token | undefined;
}

/** Larger texts are shown as they are written. In characters. */
const LARGEST = 256 * 1024;
const DEEPEST = 40;

/**
 * The blocks of a text, which joined are all of it; undefined where it is too large, too deep or cannot be read, and has to
 * be shown as it is.
 */
export const blocksOf = (text: string): Block[] | undefined => {
  if (text.length > LARGEST) return undefined;
  try {
    const tokens = lexer(text, { gfm: true });
    if (tokens.some((token) => depthOf(token, 0) > DEEPEST)) return undefined;
    return placed(text.replace(/\r\n|\r/g, '\n'), tokens);
  } catch {
    // Nested deeper than the stack.
    return undefined;
  }
};

// The parser may leave text out between two tokens, or give one another text than the source has.
const placed = (source: string, tokens: readonly Token[]): Block[] => {
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

/** About how many elements a token is shown with. */
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
