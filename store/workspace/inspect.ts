import { lstatSync } from 'node:fs';
import type { FileProblem } from '../front-matter/problem.ts';
import type { Layout } from '../layout.ts';
import { problemsIn, readItem } from '../reconcile/read-item.ts';
import { walk } from '../reconcile/walk.ts';
import { watchesWanted } from '../watch/watch-limits.ts';

export interface Inspection {
  items: number;
  /** Files that cannot be used as the record they should be. */
  problems: FileProblem[];
  /** So many directories the daemon wants to watch, at the most. */
  watches: number;
}

/** Reads every Work item of a workspace that another process may have open: takes no lock and writes nothing. */
export const inspectWorkspace = ({ root }: Layout): Inspection => {
  const problems: FileProblem[] = [];
  let items = 0;
  for (const { dir, kind } of walk(root)) {
    const files = kind === 'item' ? readItem(root, dir) : undefined;
    if (files === undefined) continue;
    items += 1;
    problems.push(...problemsIn(dir, files));
  }
  return { items, problems, watches: watchesWanted(items) };
};

export const isThere = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) !== undefined;
