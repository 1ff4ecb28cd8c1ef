import type { PlanComment } from '../../../base/comments.ts';

/** A part of a plan that can be commented on: a block, or a line of its source. */
export interface Place {
  raw: string;
  /** Its first line, from 1. */
  line: number;
}

/** Comments by the places that they are shown at; -1 has those that fit nowhere. */
export type Placed = ReadonlyMap<number, readonly PlacedComment[]>;

interface PlacedComment {
  comment: PlanComment;
  /** The wording there is not the one that it was made on. */
  wasOther: boolean;
}

/** How much of the words has to be the same for a block to be an older one with other words. */
const LIKE = 0.5;

/** Where comments belong in a plan, by the wording that they were made on. */
export const placedIn = (places: readonly Place[], comments: readonly PlanComment[]): Placed => {
  const placed = new Map<number, PlacedComment[]>();
  for (const comment of comments) {
    const same = sameAs(places, comment);
    const at = same >= 0 ? same : likest(places, comment.quote);
    const others = placed.get(at) ?? [];
    placed.set(at, [...others, { comment, wasOther: same < 0 }]);
  }
  return placed;
};

const sameAs = (places: readonly Place[], { quote, text }: PlanComment): number => {
  const words = plain(quote);
  if (words === '') return -1;
  const meant = Number(/^\(line (\d+)\) /.exec(text)?.[1] ?? 0);
  const whole = places.flatMap(({ raw }, at) => (plain(raw) === words ? [at] : []));
  const named = whole.find((at) => places[at]?.line === meant);
  const [first] = whole;
  return named ?? first ?? places.findIndex(({ raw }) => plain(raw).includes(words));
};

const plain = (text: string): string => text.trim().replace(/\s+/g, ' ');

const likest = (places: readonly Place[], quote: string): number => {
  const wanted = wordsOf(quote);
  let [best, share] = [-1, LIKE];
  for (const [at, { raw }] of places.entries()) {
    const words = wordsOf(raw);
    const both = [...words].filter((word) => wanted.has(word)).length;
    const like = (2 * both) / (words.size + wanted.size || 1);
    if (like > share) [best, share] = [at, like];
  }
  return best;
};

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

const LONGEST = 40;

/** How a place is quoted in comments.md: long ones by their beginning. */
export const quoteOf = ({ raw }: Place): string => {
  const lines = raw.replace(/^\n+|\s+$/g, '').split('\n');
  return lines.slice(0, LONGEST).join('\n');
};
