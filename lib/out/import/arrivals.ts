import { casesIn } from '../../../store/archive/archive-files.ts';
import { ancestorsOf } from '../../../store/archive/archive-names.ts';
import type { Wanted } from '../../../store/archive/standing.ts';

/** A Work item that is to come in: all the files of its directory. */
export interface Arrival {
  /** Relative to the workspace. */
  dir: string;
  /** Undefined where its case.md says none, or cannot be read. */
  id: string | undefined;
  files: Wanted[];
}

export interface Arrivals {
  items: Arrival[];
  /** Files of no Work item: settings, webhooks, global memory, notes. */
  singles: Wanted[];
}

/** Tells the files of Work items from those of the workspace. `ids` are those of the directories that have one. */
export const arrivalsOf = (
  files: readonly Wanted[],
  ids: ReadonlyMap<string, string>,
): Arrivals => {
  const dirs = casesIn(files.map(({ path }) => path));
  const items = new Map<string, Arrival>(
    dirs.map((dir) => [dir, { dir, id: ids.get(dir), files: [] }]),
  );
  const singles: Wanted[] = [];
  for (const file of files) {
    const home = ancestorsOf(file.path).find((dir) => items.has(dir));
    (home === undefined ? singles : (items.get(home)?.files ?? singles)).push(file);
  }
  return { items: [...items.values()], singles };
};
