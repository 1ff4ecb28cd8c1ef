import type { Row } from './report.ts';
import { median, ratioOf } from './rounds.ts';

interface Pair {
  /** A figure for each round. */
  ours: readonly number[];
  limits: readonly number[];
  /** What the limit is, in words. */
  against: string;
  show(figure: number): string;
}

/** The row of a measure and of its limit, which were taken in turns. */
export const pairRow = (
  row: Omit<Row, 'measured' | 'limit' | 'ratio'>,
  { ours, limits, against, show }: Pair,
): Row => ({
  ...row,
  measured: show(median(ours)),
  limit: `${show(median(limits))} ${against}`,
  ratio: ratioOf(ours, limits),
});

/** One field of what was measured, and of its limit. */
export const pairOf = <K extends string>(
  field: K,
  ours: readonly Record<K, number>[],
  limits: readonly Record<K, number>[],
): Pick<Pair, 'ours' | 'limits'> => ({
  ours: ours.map((each) => each[field]),
  limits: limits.map((each) => each[field]),
});

export const perSecond = (count: number): string => `${count.toFixed(0)}/s`;
export const micros = (us: number): string => `${us.toFixed(0)} µs`;
export const millis = (ms: number): string => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
