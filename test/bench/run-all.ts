import { isThisBuild } from './build.ts';
import { describeRun } from './describe-run.ts';
import { PARTS } from './parts.ts';
import { nextResults } from './results.ts';
import type { ResultsFile } from './results-file.ts';
import { measureGuard } from './run-guard.ts';
import { measureAll } from './run-parts.ts';

/**
 * Measures all, and writes it to a file if one is given. Returns whether all could be measured: else the file stays as it
 * is, but for another build, which may lack what a part needs.
 */
export const runAll = async (file: ResultsFile | undefined): Promise<boolean> => {
  const run = describeRun();
  const all = await measureAll(PARTS);
  const guard = await measureGuard();
  const failed = [...all.failed, ...guard.failed];
  if (failed.length > 0) process.stderr.write(`Could not be measured: ${failed.join(', ')}\n`);
  if (failed.length > 0 && isThisBuild()) return false;
  file?.write(nextResults({ run, rows: all.rows, guard: guard.rows }, file.read()));
  return failed.length === 0;
};
