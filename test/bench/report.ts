/** One line of the table: what was measured, as a ratio to its limit where there is one. */
export interface Row {
  what: string;
  measured: string;
  limit?: string;
  ratio?: number;
  /** `>= 0.7`: what the ratio should be. */
  target?: string;
}

export const meets = ({ ratio, target }: Row): boolean | undefined => {
  if (ratio === undefined || target === undefined) return undefined;
  const [sign, bound] = target.split(' ');
  return sign === '>=' ? ratio >= Number(bound) : ratio <= Number(bound);
};

export const print = (rows: readonly Row[]): void => {
  const cells = rows.map((row) => [
    row.what,
    row.measured,
    row.limit ?? '',
    row.ratio?.toFixed(2) ?? '',
    row.target ?? '',
    { true: 'ok', false: 'MISSED', undefined: '' }[String(meets(row))] ?? '',
  ]);
  const table = [['what', 'measured', 'limit in the same run', 'ratio', 'target', ''], ...cells];
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of table)
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
};
