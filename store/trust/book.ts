import { closeSync, fsyncSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../base/or-else.ts';
import { addLines, openLines, readLinesFrom } from '../disk/lines.ts';
import { statsAt } from '../disk/plain-path.ts';
import type { Layout } from '../layout.ts';
import { canonical, trustHash } from './canonical.ts';
import { tightens } from './tightening.ts';

/** What the operator has said on this machine, as last read from `.dossier/trust`. */
export interface Book {
  /** Whatever stands in the files is the operator's word: `serve --trust`. */
  readonly all: boolean;
  /** A program runs that no sandbox holds, and may be who writes: see FileGate. */
  closed: boolean;
  /** What came while one did: key and hash. All is trusted but these. */
  readonly doubted: Set<string>;
  /** The last value of each key that held. */
  readonly held: Map<string, unknown>;
  /** The hashes of all values of each key that the operator ever trusted. */
  readonly hashes: Map<string, Set<string>>;
  /** Counts what was read: another number, another book. */
  version: number;
  /** How far the file was read, and which file that was. */
  offset: number;
  mark: string;
}

/** A line of the book. Without a value: the setting, or the registration, was taken away. */
export interface TrustLine {
  key: string;
  value?: unknown;
  /** What holds by being narrower is no word of the operator's, and is not trusted for ever. */
  by: 'operator' | 'tightening';
}

export const createBook = (all = false): Book => ({
  ...{ all, closed: false, doubted: new Set(), held: new Map(), hashes: new Map() },
  ...{ version: 0, offset: 0, mark: '' },
});

/** The book of a workspace that another process may have open. Writes nothing. */
export const readBook = (layout: Layout, all = false): Book => {
  const book = createBook(all);
  // Who may not look knows of nothing that is trusted.
  orElse(() => refreshBook(layout, book), undefined, 'EACCES');
  return book;
};

const fileOf = ({ trust }: Layout): string => join(trust, 'trusted.ndjson');

/** Reads what was added to it. Where it was taken away, nothing is trusted any more. */
export const refreshBook = (layout: Layout, book: Book): void => {
  const path = fileOf(layout);
  const stats = statsAt(path);
  const mark = stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  if (mark === book.mark) return;
  const isLonger = stats !== undefined && stats.size > book.offset && sameFile(mark, book.mark);
  if (!isLonger) forget(book);
  book.mark = mark;
  for (let read = true; read && stats !== undefined; ) {
    const { values, next } = readLinesFrom(path, book.offset, lineOf);
    for (const line of values) fold(book, line);
    read = next > book.offset;
    book.offset = next;
  }
  book.version += 1;
};

const sameFile = (a: string, b: string): boolean => a.split(' ')[0] === b.split(' ')[0];

const forget = (book: Book): void => {
  book.held.clear();
  book.hashes.clear();
  book.offset = 0;
};

const lineOf = (text: string): TrustLine | undefined => {
  const line: Partial<TrustLine> | null = orElse(() => JSON.parse(text), null);
  const isLine = typeof line?.key === 'string' && ['operator', 'tightening'].includes(`${line.by}`);
  return isLine ? (line as TrustLine) : undefined;
};

const fold = ({ held, hashes }: Book, { key, value, by }: TrustLine): void => {
  if (value === undefined) held.delete(key);
  else held.set(key, value);
  if (by === 'operator') hashes.set(key, (hashes.get(key) ?? new Set()).add(trustHash(value)));
};

/**
 * Adds lines, on disk when this returns. Who adds takes no lock: lines of two processes stand one after the other.
 * Throws what the disk says.
 */
export const addToBook = (layout: Layout, book: Book, lines: readonly TrustLine[]): void => {
  if (lines.length === 0) return;
  mkdirSync(layout.trust, { recursive: true, mode: 0o700 });
  const at = new Date().toISOString();
  const text = lines.map((line) => `${JSON.stringify({ at, ...line })}\n`).join('');
  const descriptor = openLines(fileOf(layout), lineOf);
  try {
    addLines(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  refreshBook(layout, book);
};

/** What holds for a key while this value stands in the file. */
export interface TrustVerdict {
  holds: boolean;
  /** The value itself, else the last one that held. */
  in_force: unknown;
  /** What the book has to learn from it. */
  line?: TrustLine;
}

/** Whether a value holds: it is the one that did, was trusted before, opens no more than the last, or all is trusted. */
export const trustOf = (book: Book, key: string, value: unknown): TrustVerdict => {
  const held = book.held.get(key);
  if (canonical(held) === canonical(value)) return { holds: true, in_force: value };
  const by = isTaken(book, key, value) || isKnown(book, key, value) ? 'operator' : 'tightening';
  if (by === 'tightening' && !tightens(key, held, value)) return { holds: false, in_force: held };
  return { holds: true, in_force: value, line: lineFor(key, value, by) };
};

// Where all is trusted: but what came while somebody could write who is not the operator waits like anywhere else.
const isTaken = ({ all, closed, doubted }: Book, key: string, value: unknown): boolean => {
  const one = `${key} ${trustHash(value)}`;
  if (closed) doubted.add(one);
  return all && !doubted.has(one);
};

const isKnown = ({ hashes }: Book, key: string, value: unknown): boolean =>
  hashes.get(key)?.has(trustHash(value)) === true;

const lineFor = (key: string, value: unknown, by: TrustLine['by']): TrustLine => ({
  key,
  ...(value !== undefined && { value }),
  by,
});

/** What is written for a value that the operator trusts. */
export const trustLine = (key: string, value: unknown): TrustLine =>
  lineFor(key, value, 'operator');

/** Notes what held of itself. A disk that takes nothing now is tried again with the next change; nothing waits for it. */
export const noteVerdicts = (
  layout: Layout,
  book: Book,
  verdicts: Iterable<TrustVerdict>,
): void => {
  const lines = [...verdicts].flatMap(({ line }) => line ?? []);
  try {
    addToBook(layout, book, lines);
  } catch {
    for (const line of lines) fold(book, line);
  }
};
