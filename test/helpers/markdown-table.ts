/** A table of Markdown, its columns aligned: the first line is the head. */
export const tableOf = (lines: readonly (readonly string[])[]): string => {
  const table = lines.map((line) => line.map(escaped));
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(3, ...table.map((line) => line[column]?.length ?? 0)),
  );
  const [head = '', ...body] = table.map((line) =>
    between(widths.map((width, column) => (line[column] ?? '').padEnd(width))),
  );
  return [head, between(widths.map((width) => '-'.repeat(width))), ...body, ''].join('\n');
};

/** The cells of the first table in a text, without its head. */
export const cellsIn = (text: string): string[][] => {
  const lines = text.split('\n');
  const from = lines.findIndex(isLine);
  if (from === -1) return [];
  const length = lines.slice(from).findIndex((line) => !isLine(line));
  return lines
    .slice(from, length === -1 ? undefined : from + length)
    .slice(2)
    .map(cellsOf);
};

const isLine = (line: string): boolean => line.startsWith('|');

const between = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const escaped = (cell: string): string =>
  cell.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

const cellsOf = (line: string): string[] =>
  Array.from(line.slice(1).matchAll(/((?:\\.|[^\\|])*)\|/g), ([, cell = '']) =>
    cell.trim().replaceAll(/\\([\\|])/g, '$1'),
  );
