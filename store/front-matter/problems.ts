import { isDeepStrictEqual } from 'node:util';
import type { FileProblem } from './problem.ts';

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
  /** Hears of whom something is another: of those that are known already first. */
  follow(listener: (owner: string) => void): void;
  readonly size: number;
  /** Hears of those that are known already, then of each change. */
  listen(listener: ProblemNews): void;
}

export const createProblems = (): Problems => {
  const known = new Map<string, readonly FileProblem[]>();
  const listeners: ProblemNews[] = [];
  const followers: ((owner: string) => void)[] = [];
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
      if (isDeepStrictEqual(before, now)) return;
      for (const one of found(before, now)) tell('found', one);
      for (const one of mended(before, now)) tell('mended', one);
      for (const follower of followers) follower(owner);
    },
    of: (owner) => known.get(owner) ?? [],
    all,
    follow: (follower) => {
      for (const owner of known.keys()) follower(owner);
      followers.push(follower);
    },
    get size() {
      return known.size;
    },
    listen: (listener) => {
      for (const problem of all()) listener('found', problem);
      listeners.push(listener);
    },
  };
};

type Some = readonly FileProblem[];

const found = (before: Some, now: Some): FileProblem[] =>
  now.filter((one) => !before.some((other) => isDeepStrictEqual(one, other)));

// Once of a file, however much was wrong with it.
const mended = (before: Some, now: Some): FileProblem[] => {
  const gone = before.filter(({ file }) => !now.some((one) => one.file === file));
  return gone.filter((one, at) => gone.findIndex(({ file }) => file === one.file) === at);
};
