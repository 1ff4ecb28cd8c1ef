import assert from 'node:assert/strict';
import { linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { takePicture } from '../../../../../lib/code/snapshots/picture.ts';
import { worktreeChanges } from '../../../../../lib/tools/git/read/diff.ts';
import { status } from '../../../../../lib/tools/git/read/status.ts';
import type { GitPlace } from '../../../../../lib/tools/git/run/git.ts';
import { caseSettings } from '../../../../../lib/tools/git/run/letter-case.ts';
import { commitWorkingFiles } from '../../../../../lib/tools/git/write/commit-files.ts';
import { removeLinkedWorktree } from '../../../../../lib/tools/git/write/worktree.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

const FALSE = [['core.ignoreCase', 'false']];

// The file systems of the tests distinguish case, as far as the platform's usual ones do.
const skip = process.platform === 'darwin' && 'the file system does not distinguish case';

const place = async (t: TestContext) => {
  const made = makeRepository(t, { files: { 'readme.md': 'tracked\n', 'src/a.ts': 'a\n' } });
  made.git('config', 'core.ignoreCase', 'true');
  const git = testGit(t);
  const worktree = await makeWorktree(t, git, known(made));
  return { made, git, worktree, base: made.git('rev-parse', 'HEAD').trim() };
};

describe('files whose names differ only in case', { skip }, () => {
  it('are seen and committed in a repository that was copied from a system without case', async (t) => {
    const { git, worktree, base } = await place(t);
    writeFiles(worktree.path, { 'README.md': 'new\n', 'src/A.ts': 'new\n', 'SRC/b.ts': 'new\n' });
    const NEW = ['README.md', 'SRC/b.ts', 'src/A.ts'];
    const { files } = await status(git.at(worktree));
    assert.deepEqual(
      files.map(({ path, code }) => `${code} ${path}`).toSorted(),
      NEW.map((path) => `?? ${path}`),
    );
    const { changed } = await worktreeChanges(git.at(worktree), { base });
    assert.deepEqual(changed.map(({ path }) => path).toSorted(), NEW);
    const { permissions } = await takePicture(git.at(worktree));
    assert.deepEqual(Object.keys(permissions).toSorted(), NEW);
    assert.equal(
      (await commitWorkingFiles(git, worktree, { message: 'all', isAll: true })).committed?.files,
      3,
    );
    const listed = gitIn(worktree.path)('ls-tree', '-r', '--name-only', 'HEAD');
    assert.deepEqual(listed.trim().split('\n'), [
      'README.md',
      'SRC/b.ts',
      'readme.md',
      'src/A.ts',
      'src/a.ts',
    ]);
  });

  it('keep a worktree from being removed as one without changes', async (t) => {
    const { git, worktree } = await place(t);
    writeFiles(worktree.path, { 'README.md': 'new\n' });
    const takeAway = async () => assert.fail('removed');
    await assert.rejects(
      removeLinkedWorktree(git, worktree, { force: false, takeAway }),
      /1 uncommitted files/,
    );
  });
});

describe('caseSettings', { skip }, () => {
  it('overrides the setting where `.git` is the only such name', async (t) => {
    const { made, worktree } = await place(t);
    for (const at of [worktree, made.root, known(made)] as GitPlace[])
      assert.deepEqual(caseSettings(at), FALSE);
  });

  it('is not misled by a second name for `.git`', async (t) => {
    const { worktree } = await place(t);
    linkSync(join(worktree.path, '.git'), join(worktree.path, '.GIT'));
    assert.deepEqual(caseSettings(worktree), FALSE);
  });

  it('goes by the git directory where the worktree has no `.git`', async (t) => {
    const { worktree } = await place(t);
    rmSync(join(worktree.path, '.git'));
    assert.deepEqual(caseSettings(worktree), FALSE);
  });

  it('leaves the setting as it is where nothing is certain', (t) => {
    assert.deepEqual(caseSettings(temporaryDirectory(t)), []);
    assert.deepEqual(caseSettings(join(temporaryDirectory(t), 'missing')), []);
  });
});
