import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cells, COLUMNS } from './checks.ts';
import { AGENTS } from './install.ts';

export interface Row {
  /** What was tried, with its version. */
  name: string;
  date: string;
  cells: Cells;
}

type Rows = Record<string, Row>;

const FILE = join(AGENTS, 'results.json');

/** Keeps one row, so that agents can be tried one at a time, and answers all that are known. */
export const keepRow = (id: string, row: Row): Rows => {
  const rows: Rows = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
  const known = rows[id]?.name === row.name ? rows[id].cells : {};
  rows[id] = { ...row, cells: { ...known, ...row.cells } };
  writeFileSync(FILE, `${JSON.stringify(rows, null, 2)}\n`);
  return rows;
};

/** All rows as a Markdown table. */
export const tableOf = (rows: Rows): string => {
  const columns = Object.values(COLUMNS);
  const body = Object.keys(rows)
    .toSorted()
    .map((id) => {
      const { name, cells, date } = rows[id] as Row;
      return [name, ...columns.map((column) => cells[column] ?? 'not tried'), date];
    });
  const head = ['Agent', ...columns, 'Tried'];
  return [head, head.map(() => '---'), ...body]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
};
