export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** The median of the ratios of each round: what slows one round slows both sides of its ratio. */
export const ratioOf = (ours: readonly number[], limits: readonly number[]): number =>
  median(ours.map((value, round) => value / (limits[round] ?? Number.NaN)));

type Measures = readonly (() => unknown)[];
type Results<M extends Measures> = { [K in keyof M]: Awaited<ReturnType<M[K]>>[] };

/** Measures things in turns, so that a machine whose speed drifts affects all of them. Returns the results of each. */
export const alternate = async <M extends Measures>(
  rounds: number,
  ...measures: readonly [...M]
): Promise<Results<M>> => {
  const results = measures.map((): unknown[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [at, measure] of measures.entries()) results[at]?.push(await measure());
  return results as Results<M>;
};
