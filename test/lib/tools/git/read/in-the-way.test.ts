import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filesInTheWay } from '../../../../../lib/tools/git/read/in-the-way.ts';
import {
  known,
  makeRepository,
  makeWorktree,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

describe('filesInTheWay', () => {
  it('names what is there and cannot be looked at, and nothing that is absent', async (t) => {
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(makeRepository(t)));
    writeFiles(worktree.path, { 'mine.txt': 'mine' });
    // Longer than the system allows: as for a directory without search permission, lstat fails.
    const unseen = 'x'.repeat(300);
    const written = ['mine.txt', unseen, 'absent.txt', 'mine.txt/below'].map((path) => ({
      path,
      isSubmodule: false,
    }));
    assert.deepEqual(await filesInTheWay(git.at(worktree), written), ['mine.txt', unseen]);
  });
});
