import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commitWorktree } from '../../../../lib/code/worktrees/recovery/commit.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  testGit,
  writeFiles,
} from '../../../helpers/repository.ts';

describe('commitWorktree', () => {
  it('commits on a branch whose name is not ASCII', async (t) => {
    const made = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    const git = testGit(t);
    const branch = 'work/größe';
    const worktree = await makeWorktree(t, git, known(made), branch);
    const inside = gitIn(worktree.path);
    writeFiles(worktree.path, { 'a.txt': 'two\n' });
    const record: WorktreeRecord = {
      ...worktree,
      case_id: 'a'.repeat(8),
      branch,
      base: 'main',
      base_commit: inside('rev-parse', 'HEAD').trim(),
      attached: false,
      created_at: new Date(0).toISOString(),
      repository: worktree.common_dir,
    };
    const done = await commitWorktree(git, record, { message: 'Two', isSince: false });
    assert.deepEqual([done?.reason, done?.files], [undefined, 1]);
    assert.equal(done?.id, inside('rev-parse', branch).trim());
  });
});
