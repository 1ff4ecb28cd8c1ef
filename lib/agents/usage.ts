import { number } from '../text/unknown-json.ts';
import type { Usage } from './provider.ts';

/** A count of tokens that an agent reports; null for what cannot be one. */
export const tokens = (value: unknown): number | null => {
  const count = number(value);
  return count !== undefined && Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS
    ? count
    : null;
};

/** A cost that an agent reports, in dollars; null for what cannot be one. */
export const cost = (value: unknown): number | null => {
  const amount = number(value);
  return amount !== undefined && amount >= 0 && amount <= MOST_DOLLARS ? amount : null;
};

const MOST_TOKENS = 1e12;
const MOST_DOLLARS = 1e6;

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
