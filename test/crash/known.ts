/** Faults that are known and not mended yet. One that is not found any more fails the test: take it out then. */
export interface Known {
  operation: string;
  wrong: RegExp;
  /** In a sentence, as RELIABILITY.md lists it. */
  says: string;
}

export const KNOWN: readonly Known[] = [
  {
    operation: 'write a file in the editor',
    wrong: /editor\/files\?path=a\.txt is 400/,
    says: 'A file that was being written in the editor keeps a second name in `.dossier/undo/`. It is refused (400) until that name is removed',
  },
  {
    operation: 'make a file in new directories in the editor',
    wrong: /deep%2Fc\.txt is 404/,
    says: 'A new file in new directories, made in the editor, is lost with the directories',
  },
  {
    operation: 'rename a file in the editor',
    wrong: /path=moved\.txt is \{"path":"moved\.txt","size":0/,
    says: 'A rename in the editor that was cut off leaves an empty file of the new name beside the old one',
  },
  {
    operation: 'rename a file in the editor',
    wrong: /path=(src%2Fb|moved)\.txt is 400/,
    says: 'A rename in the editor between two directories keeps both names, and the file is refused (400), where the disk had only the new name',
  },
  {
    operation: 'delete a file in the editor',
    wrong: /path=a\.txt is 400/,
    says: 'A file that was being deleted in the editor has both its name and one in `.dossier/undo/`, and is refused (400)',
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
  },
  {
    operation: 'approve the plan, which runs',
    wrong: /editor\/files\?path=done\.txt is (404|\{"path":"done\.txt","size":[0-4],)/,
    says: 'A session is completed, and a file that its run wrote is empty: only `diff.patch` has it. What a run writes is not synced',
  },
  {
    operation: 'approve the plan, which runs',
    wrong: /repository_kept/,
    says: "A lock of git's that a power cut left keeps what a turn did from being taken in; the daemon names the file to remove",
  },
];

export const knownAs = (operations: readonly string[], wrong: string): Known | undefined =>
  KNOWN.find((one) => operations.includes(one.operation) && one.wrong.test(wrong));
