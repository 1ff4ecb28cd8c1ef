/** One line of the table: a measure, as a ratio to its limit where there is one. */
export interface Row {
  /** Names the measure in RESULTS.md and in the guard. A key is never renamed or reused. */
  key: string;
  what: string;
  measured: string;
  limit?: string;
  ratio?: number;
  /** Which ratio is the better one: the lower, unless it says `higher`. */
  better?: 'higher';
  /** The measured figure, where the target has a unit. */
  value?: number;
  /** `>= 0.7` for the ratio; `<= 3 ms` for the value. */
  target?: string;
}

/** Undefined for a row without a target. */
export const meets = ({ ratio, value, target }: Row): boolean | undefined => {
  const [sign, bound, unit] = target?.split(' ') ?? [];
  const figure = unit === undefined ? ratio : value;
  if (figure === undefined || bound === undefined) return undefined;
  return sign === '>=' ? figure >= Number(bound) : figure <= Number(bound);
};

/** A ratio as people read it, in three digits: 0.0412, 1.25, 24.6, 1310. */
export const figureOf = (ratio: number | undefined): string => {
  if (ratio === undefined) return '';
  return Math.abs(ratio) >= 100 ? ratio.toFixed(0) : ratio.toPrecision(3);
};

export const print = (rows: readonly Row[]): void => {
  const cells = rows.map((row) => [
    row.what,
    row.measured,
    row.limit ?? '',
    figureOf(row.ratio),
    row.target ?? '',
    { true: 'ok', false: 'MISSED', undefined: '' }[String(meets(row))] ?? '',
  ]);
  printTable([['what', 'measured', 'limit in the same run', 'ratio', 'target', ''], ...cells]);
};

/** Prints lines of cells as columns. */
export const printTable = (table: readonly (readonly string[])[]): void => {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of table) {
    const padded = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    process.stdout.write(`${padded.join('  ').trimEnd()}\n`);
  }
};
