import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Results, resultsIn, textOf } from './results.ts';

const RESULTS = fileURLToPath(new URL('../../../test/bench/RESULTS.md', import.meta.url));

export interface ResultsFile {
  /** Undefined where there is no such file. */
  read(): Results | undefined;
  write(results: Results): void;
}

/** RESULTS.md of this tree, or another file. */
export const resultsFile = (path: string | undefined): ResultsFile => {
  const file = path === undefined ? RESULTS : resolve(path);
  return {
    read: () => (existsSync(file) ? resultsIn(readFileSync(file, 'utf8')) : undefined),
    write: (results) => writeFileSync(file, textOf(results)),
  };
};
