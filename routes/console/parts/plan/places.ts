import type { PlanComment } from '../../../../store/base/comments.ts';
import { visible } from '../../../../store/base/visible.ts';

/** A part of a plan that can be commented on: a block, or a line of its source. */
export interface PlanPart {
  raw: string;
  /** Its first line, from 1. */
  line: number;
}

/** Comments by the index of their part; -1 has those without a part. */
export type PlacedComments = ReadonlyMap<number, readonly PlacedComment[]>;

export interface PlacedComment {
  comment: PlanComment;
  /** The part's text differs from the quote. */
  wasOther: boolean;
}

/** The share of equal words above which a changed part is taken for the quoted one. */
const LIKE = 0.5;

/** Finds the part of each comment by its quote. */
export const placeComments = (
  places: readonly PlanPart[],
  comments: readonly PlanComment[],
): PlacedComments => {
  const placed = new Map<number, PlacedComment[]>();
  if (comments.length === 0) return placed;
  const read = places.map((place): ReadPlace => ({ ...place, plain: plain(visible(place.raw)) }));
  for (const comment of comments) {
    const same = sameAs(read, comment);
    const at = same >= 0 ? same : likest(read, comment.quote);
    placed.set(at, [...(placed.get(at) ?? []), { comment, wasOther: same < 0 }]);
  }
  return placed;
};

interface ReadPlace extends PlanPart {
  plain: string;
  /** Computed on demand. */
  words?: Set<string>;
}

const plain = (text: string): string => text.trim().replace(/\s+/g, ' ');

const MEANT = /^\(line (\d+)(?:, (\d+) of (\d+))?\) /;

const sameAs = (places: readonly ReadPlace[], { quote, text }: PlanComment): number => {
  // Plans are served with visible characters; a quote typed by hand may have invisible ones.
  const words = plain(visible(quote));
  if (words === '') return -1;
  const [, line = 0, nth = 0, of = 0] = (MEANT.exec(text) ?? []).map(Number);
  const whole = places.flatMap((place, at) => (place.plain === words ? [at] : []));
  // All duplicates are still there, so the number identifies the part even if it moved.
  if (of > 0 && whole.length === of && whole[nth - 1] !== undefined)
    return whole[nth - 1] as number;
  const lineOf = (at: number): number => places[at]?.line ?? 0;
  const near = whole.toSorted((a, b) => Math.abs(lineOf(a) - line) - Math.abs(lineOf(b) - line));
  return (line > 0 ? near[0] : whole[0]) ?? within(places, quote, words);
};

// A line of a block, or several lines where each is a part: then the last of them.
const within = (places: readonly ReadPlace[], quote: string, words: string): number => {
  const asLine = places.findIndex(({ raw }) => raw.split('\n').some((one) => plain(one) === words));
  if (asLine >= 0) return asLine;
  const lines = visible(quote).split('\n').map(plain);
  const first = places.findIndex((_, at) =>
    lines.every((one, by) => places[at + by]?.plain === one),
  );
  if (first >= 0) return first + lines.length - 1;
  return places.findIndex((place) => place.plain.includes(words));
};

const likest = (places: readonly ReadPlace[], quote: string): number => {
  const wanted = wordsOf(quote);
  let [best, share] = [-1, LIKE];
  for (const [at, place] of places.entries()) {
    place.words ??= wordsOf(place.raw);
    const { words } = place;
    const both = [...words].filter((word) => wanted.has(word)).length;
    const like = (2 * both) / (words.size + wanted.size || 1);
    if (like > share) [best, share] = [at, like];
  }
  return best;
};

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

const LONGEST = 40;

/** The quote of a part in comments.md: at most its first 40 lines. */
export const quoteOf = ({ raw }: PlanPart): string => {
  const lines = raw.replace(/^\n+|\s+$/g, '').split('\n');
  return lines.slice(0, LONGEST).join('\n');
};
