import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseStatus, status } from '../../../../../lib/tools/git/read/status.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

const ODD = [
  '-rf',
  'a b.txt',
  'line\nbreak.txt',
  'ünï çødé.txt',
  '"quoted".txt',
  ' leading',
  ':(top)x',
  'tab\t.txt',
];

describe('status', () => {
  it('is clean, with branch and head, on a new worktree', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(made));
    assert.deepEqual(await status(git.at(worktree)), {
      branch: 'work/one',
      head: made.git('rev-parse', 'HEAD').trim(),
      upstream: null,
      ahead: 0,
      behind: 0,
      dirty: false,
      files: [],
      unread: [],
      rebase_in_progress: false,
      has_submodules: false,
    });
  });

  it('names every kind of change, files one by one, but not ignored ones', async (t) => {
    const files = {
      'edit.txt': '1\n',
      'gone.txt': '2\n',
      'old.txt': 'a file to move\n',
      'both.txt': '3\n',
      '.gitignore': 'ignored/\n',
    };
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(makeRepository(t, { files })));
    const operator = gitIn(worktree.path);
    writeFiles(worktree.path, { 'both.txt': 'staged\n', 'added.txt': 'a\n' });
    renameSync(join(worktree.path, 'old.txt'), join(worktree.path, 'moved.txt'));
    operator('add', 'both.txt', 'added.txt', 'old.txt', 'moved.txt');
    writeFiles(worktree.path, {
      'both.txt': 'and more\n',
      'edit.txt': 'x\n',
      'new/deep.txt': 'n',
      'ignored/x': 'i',
    });
    rmSync(join(worktree.path, 'gone.txt'));
    const { files: found } = await status(git.at(worktree));
    assert.deepEqual(Object.fromEntries(found.map((file) => [file.path, file.code])), {
      'added.txt': 'A.',
      'both.txt': 'MM',
      'edit.txt': '.M',
      'gone.txt': '.D',
      'moved.txt': 'R.',
      'new/deep.txt': '??',
    });
    assert.equal(found.find((file) => file.path === 'moved.txt')?.from, 'old.txt');
  });

  it('takes file names as they are', async (t) => {
    const git = testGit(t);
    const files = Object.fromEntries(ODD.map((name) => [name, 'x']));
    const worktree = await makeWorktree(t, git, known(makeRepository(t, { files })));
    for (const name of ODD)
      writeFiles(worktree.path, { [name]: 'changed', [`untracked/${name}`]: 'new' });
    const found = (await status(git.at(worktree))).files.map((file) => file.path);
    assert.deepEqual(found.sort(), ODD.flatMap((name) => [name, `untracked/${name}`]).sort());
  });

  it('counts commits ahead of and behind the upstream', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(made));
    const operator = gitIn(worktree.path);
    operator('branch', '--quiet', '--set-upstream-to=main');
    operator('commit', '--quiet', '--allow-empty', '-m', 'ahead');
    made.git('commit', '--quiet', '--allow-empty', '-m', 'behind 1');
    made.git('commit', '--quiet', '--allow-empty', '-m', 'behind 2');
    const { upstream, ahead, behind } = await status(git.at(worktree));
    assert.deepEqual({ upstream, ahead, behind }, { upstream: 'main', ahead: 1, behind: 2 });
  });

  it('sees a rebase that stopped, the detached HEAD and the conflict', async (t) => {
    const made = makeRepository(t, { files: { 'a.txt': '0\n' } });
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(made));
    for (const [root, content] of [
      [made.root, 'theirs\n'],
      [worktree.path, 'ours\n'],
    ] as const) {
      writeFiles(root, { 'a.txt': content });
      gitIn(root)('commit', '--quiet', '-am', content);
    }
    assert.throws(() => gitIn(worktree.path)('rebase', 'main'));
    const found = await status(git.at(worktree));
    assert.equal(found.rebase_in_progress, true);
    assert.equal(found.branch, null);
    assert.deepEqual(found.files, [{ path: 'a.txt', code: 'UU', repository: false }]);
  });

  it('shows a repository inside the worktree without going into it', async (t) => {
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(makeRepository(t)));
    mkdirSync(join(worktree.path, 'inner'));
    gitIn(join(worktree.path, 'inner'))('init', '--quiet');
    writeFiles(worktree.path, { 'inner/a.txt': 'a' });
    assert.deepEqual((await status(git.at(worktree))).files, [
      { path: 'inner/', code: '??', repository: true },
    ]);
  });

  it('changes nothing, not even the times that the index keeps', async (t) => {
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(makeRepository(t)));
    const index = join(worktree.git_dir, 'index');
    const before = readFileSync(index);
    writeFileSync(join(worktree.path, 'README.md'), '# A repository\n');
    utimesSync(join(worktree.path, 'README.md'), 1, 1);
    assert.equal((await status(git.at(worktree))).dirty, false);
    assert.deepEqual(readFileSync(index), before);
  });
});

describe('parseStatus', () => {
  it('keeps bytes that are no UTF-8 when it is asked to', () => {
    const output = Buffer.concat([Buffer.from('? '), Buffer.from([0xff, 0xfe]), Buffer.from('\0')]);
    assert.equal(parseStatus(output, 'latin1').files[0]?.path, '\u00ff\u00fe');
  });
});
