import { isDeepStrictEqual } from 'node:util';
import type { ReadEntry } from './entry.ts';
import {
  type FileProblem,
  fileProblem,
  fileProblems,
  Problem,
  type TextPosition,
} from './problem.ts';

/** Reports a new problem, or a file whose problems are all gone. */
type ProblemNews = (news: 'found' | 'mended', problem: FileProblem) => void;

/** All known problems, by owner: a Work item, a directory or the workspace. Each is reported once, and once when gone. */
export const createProblems = () => {
  const known = new Map<string, readonly FileProblem[]>();
  const listeners: ProblemNews[] = [];
  const followers: ((owner: string) => void)[] = [];
  const tell: ProblemNews = (news, problem) => {
    for (const listener of listeners) listener(news, problem);
  };
  const all = (): FileProblem[] =>
    [...known.values()].flat().sort((a, b) => (a.file < b.file ? -1 : 1));
  return {
    /** Replaces the problems of one owner. */
    set: (owner: string, now: readonly FileProblem[]): void => {
      const before = known.get(owner) ?? [];
      if (now.length === 0) known.delete(owner);
      else known.set(owner, now);
      if (isDeepStrictEqual(before, now)) return;
      for (const one of found(before, now)) tell('found', one);
      for (const one of mended(before, now)) tell('mended', one);
      for (const follower of followers) follower(owner);
    },
    /** The problems of one owner. */
    of: (owner: string): readonly FileProblem[] => known.get(owner) ?? [],
    /** Sorted by file. */
    all,
    /** Calls the listener for each owner that has problems, then for each owner whose problems change. */
    follow: (follower: (owner: string) => void): void => {
      for (const owner of known.keys()) follower(owner);
      followers.push(follower);
    },
    get size() {
      return known.size;
    },
    /** Reports all known problems to the listener, then each change. */
    listen: (listener: ProblemNews): void => {
      for (const problem of all()) listener('found', problem);
      listeners.push(listener);
    },
  };
};
export type Problems = ReturnType<typeof createProblems>;

type Some = readonly FileProblem[];

const found = (before: Some, now: Some): FileProblem[] =>
  now.filter((one) => !before.some((other) => isDeepStrictEqual(one, other)));

// Reported once for each file, however many problems it had.
const mended = (before: Some, now: Some): FileProblem[] => {
  const gone = before.filter(({ file }) => !now.some((one) => one.file === file));
  return gone.filter((one, at) => gone.findIndex(({ file }) => file === one.file) === at);
};

/** The problems of a file as it was last read. */
export const entryProblem = (file: string, entry: ReadEntry<unknown> | undefined): FileProblem[] =>
  entry?.problem === undefined ? [] : fileProblems(file, entry.problem);

type Warned = ReadEntry<{ matter: { id: string }; warning?: Problem }>;

/** The problems of the record files of a folder, and what is to be done about readable ones. Of two files with the same id, the second by name has the problem. */
export const problemsOfFolder = (
  folder: string,
  entries: ReadonlyMap<string, Warned>,
): FileProblem[] => {
  if (entries.size === 0) return [];
  const first = new Map<string, string>();
  return [...entries].flatMap(([name, entry]) => {
    const file = `${folder}/${name}`;
    const id = entry.value?.matter.id ?? name;
    const other = first.get(id);
    if (entry.gone_at === undefined && other === undefined) first.set(id, name);
    if (entry.problem !== undefined || other === undefined) return entryOrWarning(file, entry);
    return [fileProblem(file, duplicateId(`${folder}/${other}`))];
  });
};

const entryOrWarning = (file: string, { problem, value }: Warned): FileProblem[] => {
  const found = problem ?? value?.warning;
  return found === undefined ? [] : fileProblems(file, found);
};

/** The problem of the second file with an id; `place` is the position of its id. */
export const duplicateId = (first: string, place?: TextPosition): Problem =>
  new Problem(
    'duplicate_id',
    `${first} has the same id. Remove the id line here to give this file a new one`,
    place,
  );
