import { betterOf, failuresOf, timesWorse } from './guard.ts';
import { GUARD } from './parts.ts';
import { figureOf, print, printTable, type Row } from './report.ts';
import type { KeptRow } from './results.ts';
import type { ResultsFile } from './results-file.ts';
import { type All, measureAll } from './run-parts.ts';

const TAKES = 3;

/**
 * Compares the ratios of the guard with RESULTS.md. What is worse than it may be is measured again, twice at most: a
 * regression is there each time, another program that took the machine for a moment is not. Returns false where a ratio
 * is worse each time, or is missing.
 */
export const runGuard = async (file: ResultsFile): Promise<boolean> => {
  const from = performance.now();
  const results = file.read();
  const references = results?.guard ?? [];
  const show = (part: readonly Row[]): void => printBeside(part, references);
  let { rows, failed } = await measureGuard(show);
  for (let take = 2; take <= TAKES && results !== undefined; take += 1) {
    const worse = rows.filter((row) => failuresOf([row], references).length > 0);
    if (worse.length === 0) break;
    const again = await measureGuard(show, worse);
    failed = again.failed;
    rows = betterOf(rows, again.rows);
  }
  const failures = results === undefined ? [MISSING] : failuresOf(rows, references);
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  process.stdout.write(`The guard took ${((performance.now() - from) / 1000).toFixed(0)} s.\n`);
  return failures.length === 0 && failed.length === 0;
};

const MISSING =
  'test/bench/RESULTS.md is missing: the guard has no ratios to compare with. Run the whole of `npm run bench`, and commit the file.';

/** The rows that the guard compares; of the parts alone that have `wanted`, where that is given. */
export const measureGuard = (
  show: (rows: readonly Row[]) => void = print,
  wanted?: readonly Row[],
): Promise<All> => {
  const isWanted = (keys: readonly string[]): boolean =>
    wanted === undefined || wanted.some(({ key }) => keys.includes(key));
  const parts = Object.entries(GUARD).filter(([, { keys }]) => isWanted(keys));
  return measureAll(
    Object.fromEntries(
      parts.map(([name, { measure, keys }]) => [
        `${name} for the guard`,
        async () => (await measure()).filter(({ key }) => keys.includes(key)),
      ]),
    ),
    show,
  );
};

const printBeside = (rows: readonly Row[], references: readonly KeptRow[]): void => {
  const cells = rows.map((row) => {
    const reference = references.find(({ key }) => key === row.key);
    const worse = timesWorse(row, reference)?.toFixed(2);
    return [
      row.what,
      row.measured,
      row.limit ?? '',
      figureOf(row.ratio),
      figureOf(reference?.ratio) || 'missing',
      worse === undefined ? '' : `${worse} ×`,
    ];
  });
  const head = ['what', 'measured', 'limit in the same run', 'ratio', 'RESULTS.md', 'worse'];
  printTable([head, ...cells]);
};
