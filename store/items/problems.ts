import { isDeepStrictEqual } from 'node:util';
import type { FileProblem } from '../text/problem.ts';

/** A problem that is new, or a file that has none any more. */
export type ProblemNews = (news: 'found' | 'mended', problem: FileProblem) => void;

/** Every problem that is known, by whose files it is in. It says of each once that it is there, and once that it is gone. */
export interface Problems {
  /** What is wrong with the files of one owner (a Work item, a directory, the workspace) from now on. */
  set(owner: string, now: readonly FileProblem[]): void;
  /** What is known of one owner. */
  of(owner: string): readonly FileProblem[];
  /** Sorted by file. */
  all(): FileProblem[];
  readonly size: number;
  /** Hears of those that are known already, then of each change. */
  listen(listener: ProblemNews): void;
}

export const createProblems = (): Problems => {
  const known = new Map<string, readonly FileProblem[]>();
  const listeners: ProblemNews[] = [];
  const tell: ProblemNews = (news, problem) => {
    for (const listener of listeners) listener(news, problem);
  };
  const all = (): FileProblem[] =>
    [...known.values()].flat().sort((a, b) => (a.file < b.file ? -1 : 1));
  return {
    set: (owner, now) => {
      const before = known.get(owner) ?? [];
      if (now.length === 0) known.delete(owner);
      else known.set(owner, now);
      for (const one of now)
        if (!before.some((other) => isDeepStrictEqual(one, other))) tell('found', one);
      const mended = before.filter(({ file }) => !now.some((one) => one.file === file));
      for (const [at, one] of mended.entries())
        if (mended.findIndex(({ file }) => file === one.file) === at) tell('mended', one);
    },
    of: (owner) => known.get(owner) ?? [],
    all,
    get size() {
      return known.size;
    },
    listen: (listener) => {
      for (const problem of all()) listener('found', problem);
      listeners.push(listener);
    },
  };
};
