/** Faults that are known and not mended yet. One that is not found any more fails the test: take it out then. */
export interface Known {
  operation: string;
  wrong: RegExp;
  /** In a sentence, as RELIABILITY.md lists it. */
  says: string;
  /** It is found in a long run alone. */
  rare?: true;
}

export const KNOWN: readonly Known[] = [
  {
    operation: 'rename a file in the editor',
    wrong: /path=moved\.txt is \{"path":"moved\.txt","size":0/,
    says: 'A rename in the editor that was cut off leaves an empty file of the new name beside the old one',
  },
  {
    operation: 'rename a file in the editor',
    wrong: /path=(src%2Fb|moved)\.txt is 400/,
    says: 'A rename in the editor between two directories keeps both names, and the file is refused (400), where the disk had only the new name',
    rare: true,
  },
  {
    operation: 'remove the worktree',
    wrong:
      /then: remove the worktree: (GET a\.txt: .*worktree_(tampered|missing)|POST \/api\/worktrees: 409)/,
    says: 'A worktree that was being removed is neither used nor removed until what is left of it is removed by hand',
  },
  {
    operation: 'make a worktree',
    wrong: /then: make a worktree: POST \/api\/worktrees: (409|502)/,
    says: 'A worktree that was being made is neither there nor made again until its directory, and what git noted of it, are removed by hand',
  },
  {
    operation: 'make a worktree',
    wrong: /editor\/files\?path=\S+ is (409|\{"path":"[^"]+","size":[0-3],)/,
    says: 'A worktree that was made seconds ago is damaged: git does not sync what it checks out',
    rare: true,
  },
  {
    operation: 'approve the plan, which runs',
    wrong: /repository_kept/,
    says: "A lock of git's that a power cut left keeps what a turn did from being taken in; the daemon names the file to remove",
    rare: true,
  },
];

export const knownAs = (operations: readonly string[], wrong: string): Known | undefined =>
  KNOWN.find((one) => operations.includes(one.operation) && one.wrong.test(wrong));
