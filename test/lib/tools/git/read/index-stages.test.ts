import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { stagedIndex } from '../../../../../lib/tools/git/read/index-stages.ts';
import type { GitAt, GitWorktree } from '../../../../../lib/tools/git/run/git.ts';
import { known, makeRepository, testGit, writeFiles } from '../../../../helpers/repository.ts';

interface Made {
  at: GitAt<GitWorktree>;
  root: string;
  git: (...args: string[]) => string;
}

const make = (t: TestContext): Made => {
  const made = makeRepository(t, { files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } });
  return { ...made, at: testGit(t).at({ ...known(made), path: made.root }) };
};

describe('stagedIndex', () => {
  it('says what git says, however often the index changes', async (t) => {
    const { at, root, git } = make(t);
    const same = async (): Promise<void> => {
      for (let time = 0; time < 2; time += 1) {
        const { said } = await stagedIndex(at);
        assert.equal(said.stages.toString(), git('ls-files', '--stage', '-v', '-z'));
      }
    };
    await same();
    const steps = [
      ['update-index', '--assume-unchanged', 'a.txt'],
      ['update-index', '--no-assume-unchanged', 'a.txt'],
      ['rm', '--quiet', '--cached', 'a.txt'],
      ['add', '--intent-to-add', 'a.txt'],
      ['add', '--all'],
      ['update-index', '--skip-worktree', 'b.txt'],
      ['update-index', '--no-skip-worktree', 'b.txt'],
      ['update-index', '--index-version', '4'],
    ];
    for (const step of steps) {
      git(...step);
      await same();
    }
    writeFiles(root, { 'c.txt': 'c\n' });
    git('add', 'c.txt');
    await same();
  });

  it('asks once for the same bytes, and each time where these do not say all', async (t) => {
    const { at, root, git } = make(t);
    const said = async () => (await stagedIndex(at)).said;
    assert.equal(await said(), await said());
    git('update-index', '--split-index');
    appendFileSync(join(root, 'a.txt'), 'more\n');
    git('add', 'a.txt');
    assert.notEqual(await said(), await said(), 'a part of it is in another file');
    git('update-index', '--no-split-index');
    git('sparse-checkout', 'set', '--no-cone', 'a.txt');
    assert.notEqual(await said(), await said(), 'what git says of it depends on the files');
  });
});
