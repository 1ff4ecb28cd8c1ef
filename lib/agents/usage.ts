import type { Usage } from './provider.ts';

/** What was told of a turn that was cut off. */
export const atLeast = (usage: Usage): Usage => ({ ...usage, at_least: true });

/** Both together; a figure that neither tells stays null. */
export const addUsage = (before: Usage | null, more: Partial<Usage>): Usage => ({
  input_tokens: add(before?.input_tokens, more.input_tokens),
  output_tokens: add(before?.output_tokens, more.output_tokens),
  cost_usd: dollars(add(before?.cost_usd, more.cost_usd)),
  ...((before?.at_least === true || more.at_least === true) && { at_least: true }),
});

/** Without the noise of binary fractions: to a millionth of a cent. */
export const dollars = <T extends number | null>(amount: T): T =>
  (amount === null ? null : Math.round(amount * 1e8) / 1e8) as T;

const add = (a: number | null = null, b: number | null = null): number | null =>
  a === null && b === null ? null : (a ?? 0) + (b ?? 0);
