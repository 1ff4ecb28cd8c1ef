import { ancestorsOf } from '../../../store/archive/archive-files.ts';
import {
  defaultAt,
  isTaken,
  occupancyOf,
  type WantedFile,
  type WorkspaceStanding,
} from '../../../store/archive/occupancy.ts';
import type { Layout } from '../../../store/layout.ts';
import type { CaseArrival, CaseArrivals } from './arrivals.ts';

/** What stands in the way of something that is to come in. */
export interface ImportConflict {
  path: string;
  /** Words that follow the path. */
  why: string;
  /** What came in cannot stand beside it, nor be left out without harm. */
  isFault: boolean;
}

/** What an import would do, worked out before anything is written. */
export interface Plan {
  items: CaseArrival[];
  singles: WantedFile[];
  /** Files of a new workspace that nobody has changed, and that come in anew. */
  replacing: WantedFile[];
  /** Here already, byte for byte. */
  already: { items: number; files: number };
  conflicts: ImportConflict[];
}

type Verdict = 'new' | 'already' | 'replacing' | ImportConflict;

interface Place {
  layout: Layout;
  standing: WorkspaceStanding;
}

/** Compares what is to come in with what is here, and writes nothing. */
export const importPlan = async (place: Place, { items, singles }: CaseArrivals): Promise<Plan> => {
  const judged = await Promise.all([
    judgeAll(items, (item) => judgeItem(place, item)),
    judgeAll(singles, (file) => judgeFile(place, file)),
  ]);
  const [ofItems, ofFiles] = judged;
  return {
    items: those(ofItems, 'new'),
    singles: those(ofFiles, 'new'),
    replacing: those(ofFiles, 'replacing'),
    already: { items: those(ofItems, 'already').length, files: those(ofFiles, 'already').length },
    conflicts: [...doubles(items), ...[...ofItems, ...ofFiles].flatMap(conflictOf)],
  };
};

type Judged<T> = readonly [T, Verdict];

const judgeAll = async <T>(
  all: readonly T[],
  judge: (each: T) => Promise<Verdict>,
): Promise<Judged<T>[]> => {
  const judged: Judged<T>[] = [];
  for (const each of all) judged.push([each, await judge(each)]);
  return judged;
};

const those = <T>(judged: readonly Judged<T>[], wanted: Verdict): T[] =>
  judged.filter(([, verdict]) => verdict === wanted).map(([each]) => each);

const conflictOf = ([, verdict]: Judged<unknown>): ImportConflict[] =>
  typeof verdict === 'string' ? [] : [verdict];

const doubles = (items: readonly CaseArrival[]): ImportConflict[] => {
  const first = new Map<string, string>();
  return items.flatMap(({ dir, id }) => {
    const other = id === undefined ? undefined : first.get(id);
    if (id !== undefined && other === undefined) first.set(id, dir);
    if (other === undefined) return [];
    return [{ path: dir, why: `has the same id as ${other}, also to be imported`, isFault: true }];
  });
};

const judgeItem = async (
  { layout, standing }: Place,
  { dir, id, files }: CaseArrival,
): Promise<Verdict> => {
  const known = id === undefined ? undefined : standing.byId.get(id);
  if (known === undefined && !isTaken(layout, dir)) return inside(standing, dir) ?? 'new';
  const home = known ?? dir;
  for (const file of files) {
    const path = home + file.path.slice(dir.length);
    if ((await occupancyOf(layout, { ...file, path })) !== 'same')
      return otherItem(dir, known, path);
  }
  return 'already';
};

const inside = (standing: WorkspaceStanding, path: string): ImportConflict | undefined => {
  const item = ancestorsOf(path).find((dir) => standing.dirs.has(dir));
  if (item === undefined) return undefined;
  return { path, why: `would become part of the Work item ${item}, which is here`, isFault: false };
};

const otherItem = (dir: string, known: string | undefined, path: string): ImportConflict => {
  const where = known === undefined || known === dir ? 'is here' : `is here at ${known}`;
  return { path: dir, why: `${where}, and differs: ${path}`, isFault: false };
};

const judgeFile = async ({ layout, standing }: Place, file: WantedFile): Promise<Verdict> => {
  const { path } = file;
  const place = await occupancyOf(layout, file);
  if (place === 'same') return 'already';
  if (place === 'free') return inside(standing, path) ?? 'new';
  if (place === 'blocked')
    return {
      path,
      why: 'has no place here: there is a link, or a directory or file in its way',
      isFault: false,
    };
  if ((await defaultAt(layout, path)) !== undefined) return 'replacing';
  return { path, why: 'is here with other content', isFault: false };
};
