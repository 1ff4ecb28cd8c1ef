import type { Session } from '../../../../store/records/session.ts';
import type { Store } from '../../../../store/store.ts';
import { CONFLICT } from '../../../code/rebase/under-way.ts';
import { worktreeConfig } from '../../../code/worktrees/config.ts';
import { findWorktree } from '../../../code/worktrees/read.ts';

/** Whether what a session changes is committed once it completes: never in a directory of the operator, nor in a conflict. */
export const isCommitted = (store: Store, { case_id, type }: Session): boolean =>
  type !== CONFLICT &&
  findWorktree(store, case_id)?.attached !== true &&
  worktreeConfig(store).commit === 'end';
