/** The known word closest to a mistyped one; undefined if none is close. */
export const meantBy = (word: string, known: readonly string[]): string | undefined => {
  const most = Math.min(3, Math.floor(word.length / 3));
  const [nearest] = known
    .map((name) => ({ name, far: distance(plain(word), plain(name)) }))
    .filter(({ far }) => far <= most)
    .toSorted((a, b) => a.far - b.far);
  return nearest?.name;
};

const plain = (word: string): string => word.toLowerCase().replaceAll('-', '_');

// Damerau-Levenshtein: insertions, deletions, substitutions, swaps of neighbours.
const distance = (a: string, b: string): number => {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) row.push(cheapest(rows, row, [a, b], [i, j]));
    rows.push(row);
  }
  return rows.at(-1)?.at(-1) ?? 0;
};

const cheapest = (
  rows: readonly number[][],
  row: readonly number[],
  [a, b]: readonly [string, string],
  [i, j]: readonly [number, number],
): number => {
  const above = rows[i - 1] ?? [];
  const same = a[i - 1] === b[j - 1] ? 0 : 1;
  const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  return Math.min(
    (above[j] ?? 0) + 1,
    (row[j - 1] ?? 0) + 1,
    (above[j - 1] ?? 0) + same,
    ...(swapped ? [(rows[i - 2]?.[j - 2] ?? 0) + 1] : []),
  );
};
