import type { Store } from '../../../../store/store.ts';
import { findWorktree } from '../../../code/worktrees/read.ts';
import type { Traces } from '../../../tools/process/process-tree.ts';

/** By what the processes of a Work item's run are known, besides its marker: they stand in its worktree. */
export const tracesOf = (store: Store, caseId: string): Traces => {
  try {
    const dir = findWorktree(store, caseId)?.path;
    return dir === undefined ? {} : { dir };
  } catch {
    // A record that cannot be read is told where it is needed; the marker finds most.
    return {};
  }
};
