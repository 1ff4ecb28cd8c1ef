import type { Session } from '../../../../store/records/session.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store } from '../../../../store/store.ts';
import { worktreeConfig } from '../../../code/worktrees/config.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';

/** Whether what a session changes is committed once it completes: never in a directory of the operator, nor in a conflict. */
export const isCommitted = (
  store: Store,
  { type }: Session,
  worktree: WorktreeRecord | undefined,
): boolean =>
  type !== CONFLICT && worktree?.attached !== true && worktreeConfig(store).commit === 'end';
