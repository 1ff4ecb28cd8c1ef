import { LONG, type Measure, PARTS } from './parts.ts';
import { stopAll } from './processes.ts';
import { print, type Row } from './report.ts';

/** Measures parts one after the other and prints the rows of each at once. Returns whether all could be measured. */
export const runParts = async (names: readonly string[]): Promise<boolean> => {
  const wanted = Object.entries({ ...PARTS, ...LONG }).filter(([name]) => names.includes(name));
  return (await measureAll(Object.fromEntries(wanted))).failed.length === 0;
};

export interface All {
  rows: Row[];
  /** The parts that could not be measured. */
  failed: string[];
}

/** Measures parts, shows the rows of each at once, and returns all of them. Where a part fails, the next is measured. */
export const measureAll = async (
  parts: Readonly<Record<string, Measure>>,
  show: (rows: readonly Row[]) => void = print,
): Promise<All> => {
  const all: All = { rows: [], failed: [] };
  for (const [name, measure] of Object.entries(parts)) {
    process.stderr.write(`measuring ${name} …\n`);
    try {
      const rows = await measure();
      show(rows);
      all.rows.push(...rows);
    } catch (error) {
      process.stderr.write(`${name} could not be measured: ${error}\n`);
      all.failed.push(name);
      await stopAll();
    }
  }
  return all;
};
