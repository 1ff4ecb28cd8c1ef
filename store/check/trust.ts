import type { Layout } from '../layout.ts';
import { fileProblem } from '../text/problem.ts';
import { waitsForTrust } from '../trust/told.ts';
import { lookForWaiting } from '../waiting/look.ts';
import { type Finding, warning } from './finding.ts';

/** What stands in files and does not hold on this machine until the operator says so: a line for each file. */
export const checkTrust = (layout: Layout): Finding[] => {
  const all = lookForWaiting(layout);
  return [...new Set(all.map(({ file }) => file))].map((file) => {
    const waiting = all.filter((value) => value.file === file);
    const keys = waiting.map(({ key, kind }) => (kind === 'webhook' ? 'This receiver' : key));
    const line = waiting.find((value) => value.line !== undefined)?.line;
    const place = line === undefined ? undefined : { line, column: 1 };
    return warning(fileProblem(file, waitsForTrust(layout, keys, place)));
  });
};
