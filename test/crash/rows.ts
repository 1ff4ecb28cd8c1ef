/** Which operations follow one another: each alone, all pairs, and triples by chance. */
import { type Dice, diceOf } from './dice.ts';
import { OPERATIONS } from './operations.ts';

/** Operations one after the other on one world. */
export interface Row {
  number: number;
  operations: string[];
}

const NAMES = OPERATIONS.map(({ name }) => name);

export const alone = (): Row[] => numbered(NAMES.map((name) => [name]));

/** In an order by chance: a run that ends early has tried of all. */
export const pairs = (seed: number): Row[] => {
  const dice = diceOf(seed);
  const left = NAMES.flatMap((first) => NAMES.map((second) => [first, second]));
  const all: string[][] = [];
  while (left.length > 0) all.push(...left.splice(dice.below(left.length), 1));
  return numbered(all);
};

export const triples = (count: number, seed: number): Row[] => {
  const dice: Dice = diceOf(seed);
  return numbered(
    Array.from({ length: count }, () => [dice.pick(NAMES), dice.pick(NAMES), dice.pick(NAMES)]),
  );
};

export const numbered = (rows: readonly string[][]): Row[] =>
  rows.map((operations, number) => ({ number, operations }));
