import assert from 'node:assert/strict';
import type { Case } from '../../store/records/case.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import { type Change, commit } from '../lib/work/conflicts/fixture.ts';
import { gitIn } from './repository.ts';
import type { Running } from './service.ts';

export interface FinishedItem {
  item: Case;
  worktree: Worktree;
  commit: (change: Change) => string;
}

/** A Work item in VERIFYING with these commits on its branch. */
export const finished = async (
  { call }: Pick<Running, 'call'>,
  title: string,
  ...changes: Change[]
): Promise<FinishedItem> => {
  const { body: item } = await call<Case>('POST', '/cases', { title, type: 'bug' });
  const made = await call<Worktree>('POST', '/api/worktrees', { case_id: item.id });
  assert.equal(made.status, 201, made.text);
  const worktree = made.body;
  const git = gitIn(worktree.path);
  for (const change of changes) commit(git, worktree.path, change);
  const moved = await call('PUT', `/cases/${item.id}/state`, { state: 'VERIFYING' });
  assert.equal(moved.status, 200, moved.text);
  return { item, worktree, commit: (change) => commit(git, worktree.path, change) };
};
