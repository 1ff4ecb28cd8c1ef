import assert from 'node:assert/strict';
import { chownSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ServiceError } from '../../../../../lib/errors.ts';
import {
  checkBranchName,
  commitOf,
  commitsOf,
  currentBranch,
  findRepository,
  headCommit,
  whyUnfit,
} from '../../../../../lib/tools/git/read/repository.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  temporaryDirectory,
  testGit,
} from '../../../../helpers/repository.ts';

describe('findRepository', () => {
  it('finds the repository of a directory inside it', async (t) => {
    const { root } = makeRepository(t, { files: { 'src/deep/a.txt': 'a' } });
    const found = await findRepository(testGit(t), join(root, 'src/deep'));
    assert.deepEqual(found, {
      root,
      bare: false,
      git_dir: join(root, '.git'),
      common_dir: join(root, '.git'),
    });
  });

  it('finds a linked worktree with the directories that it shares', async (t) => {
    const git = testGit(t);
    const repository = known(makeRepository(t));
    const worktree = await makeWorktree(t, git, repository);
    const found = await findRepository(git, worktree.path);
    assert.deepEqual(found, {
      root: worktree.path,
      bare: false,
      git_dir: worktree.git_dir,
      common_dir: repository.common_dir,
    });
  });

  it('finds a bare repository', async (t) => {
    const { root } = makeRepository(t, { bare: true });
    assert.deepEqual(await findRepository(testGit(t), root), {
      root,
      bare: true,
      git_dir: root,
      common_dir: root,
    });
  });

  it('finds one with a line break in its path, and says that no work can be done there', async (t) => {
    const git = testGit(t);
    for (const bare of [false, true]) {
      const { root } = makeRepository(t, { bare });
      const at = join(temporaryDirectory(t), 'line\nbreak');
      renameSync(root, at);
      const link = join(temporaryDirectory(t), 'link');
      symlinkSync(at, link);
      const worktree = join(temporaryDirectory(t), 'worktree');
      gitIn(at)('worktree', 'add', '--quiet', worktree, '-b', 'other');
      for (const path of [at, link, worktree]) {
        const found = await findRepository(git, path);
        assert.match((found && whyUnfit(found)) ?? '', /has a line break in its real path/, path);
      }
    }
    const found = await findRepository(git, makeRepository(t).root);
    assert.equal(found && whyUnfit(found), undefined);
  });

  it('finds nothing where there is no repository or no directory', async (t) => {
    const root = temporaryDirectory(t);
    assert.equal(await findRepository(testGit(t), root), undefined);
    assert.equal(await findRepository(testGit(t), join(root, 'absent')), undefined);
  });

  const skip = process.getuid?.() === 0 ? false : 'only root can give a directory to another user';
  it("says what to run for another user's repository", { skip }, async (t) => {
    const { root } = makeRepository(t);
    for (const path of [root, join(root, '.git')]) chownSync(path, 12345, 12345);
    await assert.rejects(findRepository(testGit(t), root), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.equal(error.code, 'no_repository');
      assert.match(error.message, /safe\.directory/);
      return true;
    });
  });
});

describe('headCommit, currentBranch and commitOf', () => {
  it('answer for a branch, a detached HEAD and an empty repository', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t);
    const head = made.git('rev-parse', 'HEAD').trim();
    assert.equal(await headCommit(git.at(known(made))), head);
    assert.equal(await currentBranch(git.at(known(made))), 'main');
    made.git('checkout', '--quiet', '--detach');
    assert.equal(await currentBranch(git.at(known(made))), undefined);
    const empty = temporaryDirectory(t);
    gitIn(empty)('init', '--quiet');
    assert.equal(await headCommit(git.at(empty)), undefined);
    for (const name of ['', '--all', 'nothing', 'a\0b'])
      assert.equal(await commitOf(git.at(known(made)), name), undefined);
  });
});

describe('commitsOf', () => {
  it('answers each name in its order, and nothing for what names no commit', async (t) => {
    const made = makeRepository(t, { files: { 'a.txt': 'a' } });
    const head = made.git('rev-parse', 'HEAD').trim();
    const tree = made.git('rev-parse', 'HEAD^{tree}').trim();
    made.git('branch', 'ünï');
    made.git('tag', '-a', '-m', 'x', 'v1');
    const names = ['none', 'main', '', 'main\nmain', 'main\0', tree, '--all', 'ünï', 'v1', head];
    assert.deepEqual(await commitsOf(testGit(t).at(known(made)), names), [
      ...[undefined, head, undefined, undefined, undefined, undefined, undefined],
      ...[head, head, head],
    ]);
  });
});

describe('checkBranchName', () => {
  it('says of names that it knows by itself what git says', async (t) => {
    const { git: operator } = makeRepository(t);
    const git = testGit(t);
    for (const name of ['a', '_', '1-', 'a--b/_-/0', 'head', 'HEAD/a', 'a/HEAD', 'refs/heads/a']) {
      assert.equal(operator('check-ref-format', '--branch', name), `${name}\n`);
      assert.equal(await checkBranchName(git, name), true, name);
    }
    assert.throws(() => operator('check-ref-format', '--branch', 'HEAD'));
    assert.equal(await checkBranchName(git, 'HEAD'), false);
  });

  it('takes what git takes as a name, and nothing that stands for another', async (t) => {
    const { git: operator } = makeRepository(t);
    operator('checkout', '--quiet', '-b', 'other');
    const git = testGit(t);
    for (const name of ['main', 'work/one', 'ünï'])
      assert.equal(await checkBranchName(git, name), true, name);
    for (const name of [
      '',
      '-f',
      '--help',
      'a b',
      'a..b',
      'HEAD',
      '@{-1}',
      'a.lock',
      '/a',
      'a\n',
      'a\0',
    ]) {
      assert.equal(await checkBranchName(git, name), false, name);
    }
  });
});

describe('commitOf', () => {
  it('finds branches by their full names, but no tags', async (t) => {
    const made = makeRepository(t);
    made.git('tag', 'v1');
    const git = testGit(t).at(known(made));
    const ask = async (name: string) => (await commitOf(git, `refs/heads/${name}`)) !== undefined;
    assert.deepEqual(await Promise.all(['main', 'v1', 'nothing', '-x'].map(ask)), [
      true,
      false,
      false,
      false,
    ]);
  });
});
