/** Numbers that look like chance and are the same for the same seed. */
export interface Dice {
  /** From 0, less than this. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
}

export const diceOf = (seed: number): Dice => {
  let state = (seed * 2_654_435_761 + 0x9e3779b9) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, pick: (values) => values[below(values.length)] as never };
};
