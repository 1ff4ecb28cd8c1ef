import type { Usage } from './provider.ts';

/** Marks the usage of an interrupted turn as a lower bound. */
export const atLeast = (usage: Usage): Usage => ({ ...usage, at_least: true });

/** Adds usage; a figure that neither has stays null. */
export const addUsage = (before: Usage | null, more: Partial<Usage>): Usage => ({
  input_tokens: add(before?.input_tokens, more.input_tokens),
  output_tokens: add(before?.output_tokens, more.output_tokens),
  cost_usd: dollars(add(before?.cost_usd, more.cost_usd)),
  ...((before?.at_least === true || more.at_least === true) && { at_least: true }),
});

/** Rounds away binary fractions, to a millionth of a cent. */
export const dollars = <T extends number | null>(amount: T): T =>
  (amount === null ? null : Math.round(amount * 1e8) / 1e8) as T;

const add = (a: number | null = null, b: number | null = null): number | null =>
  a === null && b === null ? null : (a ?? 0) + (b ?? 0);
