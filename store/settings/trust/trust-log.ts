import { canonical, trustHash } from '../../consent/seal.ts';
import type { Consent } from '../../consent/decisions.ts';
import type { ConsentLog } from '../../consent/log.ts';

/** What applies of the values that need the operator's trust, by the consent log of this machine. */
export interface Book {
  readonly log: ConsentLog;
  /** Whatever stands in the files is trusted: `serve --trust`. */
  readonly all: boolean;
  /** A program runs that no sandbox holds, and may be who writes: see FileGate. */
  closed: boolean;
  /** What came while one did: key and hash. All is trusted but these. */
  readonly doubted: Set<string>;
}

export const createBook = (log: ConsentLog, all = false): Book => ({
  ...{ log, all, closed: false, doubted: new Set() },
});

/** The last value of a key that applied; undefined where there is none. */
export const heldValue = ({ log }: Book, key: string): unknown => log.list().get(key)?.value;

/** What holds for a key while this value stands in the file. */
export interface TrustVerdict {
  holds: boolean;
  /** The value itself, else the last one that held. */
  in_force: unknown;
  /** What the book has to learn from it. */
  line?: Consent;
}

/**
 * Whether a value holds: it is the one that did, was trusted before, or all is trusted; else where the caller says that it
 * opens no more than the last.
 */
export const trustOf = (
  book: Book,
  key: string,
  value: unknown,
  opensNoMore: (held: unknown) => boolean,
): TrustVerdict => {
  const held = heldValue(book, key);
  if (canonical(held) === canonical(value)) return { holds: true, in_force: value };
  const isSaid = isTaken(book, key, value) || book.log.wasGranted(key, trustHash(value));
  const by = isSaid ? 'operator' : 'tightening';
  if (by === 'tightening' && !opensNoMore(held)) return { holds: false, in_force: held };
  return { holds: true, in_force: value, line: lineFor(key, value, by) };
};

// Where all is trusted: but what came while somebody could write who is not the operator waits like anywhere else.
const isTaken = ({ all, closed, doubted }: Book, key: string, value: unknown): boolean => {
  const one = `${key} ${trustHash(value)}`;
  if (closed) doubted.add(one);
  return all && !doubted.has(one);
};

const lineFor = (key: string, value: unknown, by: Consent['by']): Consent => ({
  key,
  ...(value !== undefined && { value }),
  by,
});

/** Notes what held of itself. A disk that takes nothing now is tried again with the next change; nothing waits for it. */
export const noteVerdicts = ({ log }: Book, verdicts: Iterable<TrustVerdict>): void => {
  const lines = [...verdicts].flatMap(({ line }) => line ?? []);
  try {
    for (const by of ['operator', 'tightening'] as const)
      log.grant(
        lines.filter((line) => line.by === by),
        by,
      );
  } catch {
    log.assume(lines);
  }
};
