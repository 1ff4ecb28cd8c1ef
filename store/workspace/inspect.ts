import { lstatSync } from 'node:fs';
import type { FileProblem } from '../front-matter/problem.ts';
import type { Layout } from '../layout.ts';
import { problemsIn, readItemFiles } from '../reconcile/read-item.ts';
import { walk } from '../reconcile/walk.ts';

interface Inspection {
  items: number;
  /** Unreadable records. */
  problems: FileProblem[];
}

/** Reads every Work item of a workspace that another process may have open. Acquires no lock and writes nothing. */
export const inspectWorkspace = ({ root }: Layout): Inspection => {
  const problems: FileProblem[] = [];
  let items = 0;
  for (const { dir, kind } of walk(root)) {
    const files = kind === 'item' ? readItemFiles(root, dir) : undefined;
    if (files === undefined) continue;
    items += 1;
    problems.push(...problemsIn(dir, files));
  }
  return { items, problems };
};

export const isThere = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) !== undefined;
