import { figureOf, type Row } from './report.ts';

/** How many times worse than its reference a ratio may be. */
export const MOST_WORSE = 1.3;

/** A ratio, and the one of the run before, which may be of another machine. */
type Ratio = Pick<Row, 'key' | 'ratio'> & { before?: number };

/**
 * How many times worse a ratio is than the worse one of its reference, since machines differ; below 1 where it is better.
 * Undefined where one is missing.
 */
export const timesWorse = (
  { ratio, better }: Pick<Row, 'ratio' | 'better'>,
  reference: Ratio | undefined,
): number | undefined => {
  if (ratio === undefined || reference?.ratio === undefined) return undefined;
  const known = [reference.ratio, reference.before ?? reference.ratio];
  return Math.min(...known.map((each) => (better === 'higher' ? each / ratio : ratio / each)));
};

/** What is wrong with the rows of a guard, a sentence or two for each; empty where nothing is. */
export const failuresOf = (rows: readonly Row[], references: readonly Ratio[]): string[] =>
  rows.flatMap((row) => {
    const reference = references.find(({ key }) => key === row.key);
    const worse = timesWorse(row, reference);
    const failure = worse === undefined ? whatIsMissing(row) : whatIsWorse(row, reference, worse);
    return failure === undefined ? [] : [failure];
  });

/** Of each row the better one of two takes. */
export const betterOf = (rows: readonly Row[], again: readonly Row[]): Row[] =>
  rows.map((row) => {
    const other = again.find(({ key }) => key === row.key);
    return other !== undefined && (timesWorse(row, other) ?? 2) > 1 ? other : row;
  });

const whatIsMissing = (row: Row): string =>
  row.ratio === undefined
    ? `${row.key} has no ratio: ${row.measured}. Run \`npm run bench -- --guard\` where it can be measured.`
    : `${row.key} is missing in the section Guard of test/bench/RESULTS.md. Run the whole of \`npm run bench\` and commit the file.`;

const whatIsWorse = (
  { key, what, ratio }: Row,
  reference: Ratio | undefined,
  worse: number,
): string | undefined => {
  // A ratio that is no number is worse than any.
  if (worse <= MOST_WORSE) return undefined;
  return (
    `${key} is ${worse.toFixed(2)} × worse, and may be ${MOST_WORSE} ×: the ratio of ${what} is ${figureOf(ratio)}, ` +
    `and ${[reference?.ratio, reference?.before].map(figureOf).filter(Boolean).join(' or ')} in test/bench/RESULTS.md. Profile it; if the cost is wanted, run the whole of ` +
    '`npm run bench`, commit RESULTS.md, and give the reason in the commit message.'
  );
};
