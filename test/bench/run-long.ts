import { describeSection } from './describe-run.ts';
import { LONG } from './parts.ts';
import { withLong } from './results.ts';
import type { ResultsFile } from './results-file.ts';
import { measureAll } from './run-parts.ts';

/** Measures what takes minutes each, and writes it to the section Long. Returns whether all could be measured: else nothing is written. */
export const runLong = async (file: ResultsFile): Promise<boolean> => {
  const of = describeSection('--long');
  const { rows, failed } = await measureAll(LONG);
  if (failed.length > 0) return false;
  file.write(withLong({ of, rows }, file.read()));
  return true;
};
