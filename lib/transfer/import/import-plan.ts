import { casesIn } from '../../../store/archive/archive-files.ts';
import {
  defaultAt,
  isTaken,
  occupancyOf,
  type WantedFile,
  type WorkspaceStanding,
} from '../../../store/archive/occupancy.ts';
import { parentsOf } from '../../../store/base/paths.ts';
import type { Layout } from '../../../store/layout.ts';

/** Why a file or Work item cannot be imported. */
export interface ImportConflict {
  path: string;
  /** Words that follow the path. */
  why: string;
  /** Whether the import is refused even with `--keep-existing`. */
  isFault: boolean;
}

/** The plan of an import, made before anything is written. */
export interface Plan {
  items: IncomingCase[];
  singles: WantedFile[];
  /** Unchanged default files of the workspace that are replaced. */
  replacing: WantedFile[];
  /** The number of Work items and files that exist with the same bytes. */
  already: { items: number; files: number };
  conflicts: ImportConflict[];
}

type Verdict = 'new' | 'already' | 'replacing' | ImportConflict;

interface Place {
  layout: Layout;
  standing: WorkspaceStanding;
}

/** Compares the files to import with the workspace. Writes nothing. */
export const importPlan = async (
  place: Place,
  { items, singles }: IncomingFiles,
): Promise<Plan> => {
  const judged = await Promise.all([
    judgeAll(items, (item) => judgeItem(place, item)),
    judgeAll(singles, (file) => judgeFile(place, file)),
  ]);
  const [ofItems, ofFiles] = judged;
  return {
    items: withVerdict(ofItems, 'new'),
    singles: withVerdict(ofFiles, 'new'),
    replacing: withVerdict(ofFiles, 'replacing'),
    already: {
      items: withVerdict(ofItems, 'already').length,
      files: withVerdict(ofFiles, 'already').length,
    },
    conflicts: [...duplicateIds(items), ...[...ofItems, ...ofFiles].flatMap(conflictOf)],
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

const withVerdict = <T>(judged: readonly Judged<T>[], wanted: Verdict): T[] =>
  judged.filter(([, verdict]) => verdict === wanted).map(([each]) => each);

const conflictOf = ([, verdict]: Judged<unknown>): ImportConflict[] =>
  typeof verdict === 'string' ? [] : [verdict];

const duplicateIds = (items: readonly IncomingCase[]): ImportConflict[] => {
  const first = new Map<string, string>();
  return items.flatMap(({ dir, id }) => {
    const other = id === undefined ? undefined : first.get(id);
    if (id !== undefined && other === undefined) first.set(id, dir);
    if (other === undefined) return [];
    return [
      {
        path: dir,
        why: `has the same id as ${other}, which would be imported, too`,
        isFault: true,
      },
    ];
  });
};

const judgeItem = async (
  { layout, standing }: Place,
  { dir, id, files }: IncomingCase,
): Promise<Verdict> => {
  const known = id === undefined ? undefined : standing.byId.get(id);
  if (known === undefined && !isTaken(layout, dir)) return insideItem(standing, dir) ?? 'new';
  const home = known ?? dir;
  for (const file of files) {
    const path = home + file.path.slice(dir.length);
    if ((await occupancyOf(layout, { ...file, path })) !== 'same')
      return otherItem(dir, known, path);
  }
  return 'already';
};

const insideItem = (standing: WorkspaceStanding, path: string): ImportConflict | undefined => {
  const item = parentsOf(path).find((dir) => standing.dirs.has(dir));
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
  if (place === 'free') return insideItem(standing, path) ?? 'new';
  if (place === 'blocked')
    return {
      path,
      why: 'cannot be placed here: a link, directory or file is in the way',
      isFault: false,
    };
  if ((await defaultAt(layout, path)) !== undefined) return 'replacing';
  return { path, why: 'is here with other content', isFault: false };
};

/** A Work item to import, with all files of its directory. */
interface IncomingCase {
  /** Relative to the workspace. */
  dir: string;
  /** Undefined if case.md has no id or is unreadable. */
  id: string | undefined;
  files: WantedFile[];
}

interface IncomingFiles {
  items: IncomingCase[];
  /** Files outside of Work items: settings, webhooks, global memory, notes. */
  singles: WantedFile[];
}

/** Groups files by Work item. `ids` has the ids of Work items by directory. */
export const groupByCase = (
  files: readonly WantedFile[],
  ids: ReadonlyMap<string, string>,
): IncomingFiles => {
  const dirs = casesIn(files.map(({ path }) => path));
  const items = new Map<string, IncomingCase>(
    dirs.map((dir) => [dir, { dir, id: ids.get(dir), files: [] }]),
  );
  const singles: WantedFile[] = [];
  for (const file of files) {
    const home = parentsOf(file.path).find((dir) => items.has(dir));
    (home === undefined ? singles : (items.get(home)?.files ?? singles)).push(file);
  }
  return { items: [...items.values()], singles };
};
