import { ancestorsOf, casesIn } from '../../../store/archive/archive-files.ts';
import type { WantedFile } from '../../../store/archive/occupancy.ts';

/** A Work item that is to come in: all the files of its directory. */
export interface CaseArrival {
  /** Relative to the workspace. */
  dir: string;
  /** Undefined where its case.md says none, or cannot be read. */
  id: string | undefined;
  files: WantedFile[];
}

export interface CaseArrivals {
  items: CaseArrival[];
  /** Files of no Work item: settings, webhooks, global memory, notes. */
  singles: WantedFile[];
}

/** Tells the files of Work items from those of the workspace. `ids` are those of the directories that have one. */
export const arrivalsOf = (
  files: readonly WantedFile[],
  ids: ReadonlyMap<string, string>,
): CaseArrivals => {
  const dirs = casesIn(files.map(({ path }) => path));
  const items = new Map<string, CaseArrival>(
    dirs.map((dir) => [dir, { dir, id: ids.get(dir), files: [] }]),
  );
  const singles: WantedFile[] = [];
  for (const file of files) {
    const home = ancestorsOf(file.path).find((dir) => items.has(dir));
    (home === undefined ? singles : (items.get(home)?.files ?? singles)).push(file);
  }
  return { items: [...items.values()], singles };
};
