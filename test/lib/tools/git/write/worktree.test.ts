import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ServiceError } from '../../../../../lib/errors.ts';
import { commitOf, findRepository } from '../../../../../lib/tools/git/read/repository.ts';
import { createGit } from '../../../../../lib/tools/git/run/create-git.ts';
import {
  addWorktree,
  isTampered,
  listWorktrees,
  removeLinkedWorktree,
} from '../../../../../lib/tools/git/write/worktree.ts';
import { cleanEnvironment } from '../../../../../lib/tools/process/environment.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

const takeAway = ({ place }: { place: { path: string } }): Promise<void> =>
  rm(place.path, { recursive: true });

const code =
  (expected: string) =>
  (error: unknown): boolean =>
    error instanceof ServiceError && error.code === expected;

describe('addWorktree', () => {
  it('makes a locked worktree on a new branch and says where its git directory is', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(made));
    assert.equal(worktree.git_dir, join(made.root, '.git', 'worktrees', 'worktree'));
    assert.equal(readFileSync(join(worktree.path, 'README.md'), 'utf8'), '# A repository\n');
    const [, listed] = await listWorktrees(git.at(known(made)));
    const head = made.git('rev-parse', 'HEAD').trim();
    assert.deepEqual(listed, {
      path: worktree.path,
      head,
      branch: 'work/one',
      bare: false,
      locked: 'a test',
      prunable: false,
    });
    assert.equal(await isTampered(worktree), false);
    assert.equal(worktree.new_branch, true);
  });

  it('tracks nothing, though the base is a remote branch', async (t) => {
    const made = makeRepository(t);
    made.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    const git = testGit(t);
    const path = join(temporaryDirectory(t), 'w');
    await addWorktree(git, {
      repository: known(made),
      path,
      branch: 'b',
      base: 'origin/main',
      reason: 'r',
    });
    assert.throws(() => gitIn(path)('rev-parse', '@{upstream}'));
  });

  it('checks a branch that exists out as it is', async (t) => {
    const made = makeRepository(t);
    const first = made.git('rev-parse', 'HEAD').trim();
    made.git('branch', 'work/one');
    made.git('commit', '--quiet', '--allow-empty', '-m', 'later');
    const worktree = await makeWorktree(t, testGit(t), known(made));
    assert.equal(gitIn(worktree.path)('rev-parse', 'HEAD').trim(), first);
    assert.equal(worktree.new_branch, false);
  });

  it('works from a bare repository', async (t) => {
    const { root } = makeRepository(t, { bare: true });
    const git = testGit(t);
    const repository = await findRepository(git, root);
    assert.ok(repository);
    const worktree = await makeWorktree(t, git, repository);
    assert.equal(existsSync(join(worktree.path, 'README.md')), true);
  });

  it('answers branch_in_use for a branch that is checked out elsewhere', async (t) => {
    const git = testGit(t);
    const repository = known(makeRepository(t));
    await makeWorktree(t, git, repository);
    await assert.rejects(makeWorktree(t, git, repository), code('branch_in_use'));
    await assert.rejects(makeWorktree(t, git, repository, 'main'), code('branch_in_use'));
  });

  it('refuses a bad name and a base that is not there', async (t) => {
    const git = testGit(t);
    const wanted = {
      repository: known(makeRepository(t)),
      path: join(temporaryDirectory(t), 'w'),
      reason: 'r',
    };
    await assert.rejects(
      addWorktree(git, { ...wanted, branch: '--force', base: 'main' }),
      code('bad_request'),
    );
    for (const base of ['--all', 'nothing', 'f'.repeat(40)])
      await assert.rejects(
        addWorktree(git, { ...wanted, branch: 'b', base }),
        code('invalid_state'),
      );
    assert.equal(existsSync(wanted.path), false);
    assert.equal(await commitOf(git.at(wanted.repository), 'refs/heads/b'), undefined);
  });

  it('leaves no new branch of a worktree that git refuses, and each that was there', async (t) => {
    const made = makeRepository(t);
    const blob = made.git('rev-parse', 'HEAD:README.md').trim();
    const entry = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]);
    writeFiles(made.root, { entry });
    const invalid = made.git('hash-object', '-t', 'tree', '--literally', '-w', 'entry').trim();
    const base = made.git('commit-tree', '-m', 'invalid', invalid).trim();
    const repository = known(made);
    const wanted = { repository, path: join(temporaryDirectory(t), 'w'), base, reason: 'r' };
    const git = testGit(t);
    await assert.rejects(addWorktree(git, { ...wanted, branch: 'b' }), /invalid path '\.git'/);
    assert.equal(made.git('branch', '--list', 'b'), '');
    assert.equal(made.git('worktree', 'list').trim().split('\n').length, 1);
    made.git('branch', 'b', base);
    await assert.rejects(addWorktree(git, { ...wanted, branch: 'b' }), /invalid path '\.git'/);
    assert.equal(made.git('rev-parse', 'b').trim(), base);
  });

  it('names the filter that fails, its file, and what to correct', async (t) => {
    const made = makeRepository(t, {
      files: { '.gitattributes': '*.dat filter=f\n', 'a.dat': '1' },
    });
    const home = temporaryDirectory(t);
    const set = (name: string, value: string) =>
      made.git('config', '--file', join(home, '.gitconfig'), `filter.f.${name}`, value);
    set('required', 'true');
    set('smudge', 'sh -c "echo no key >&2; exit 3"');
    const git = createGit({ env: cleanEnvironment({ PATH: process.env.PATH }, { HOME: home }) });
    await assert.rejects(
      makeWorktree(t, git, known(made)),
      /^ServiceError: The smudge filter f failed for a\.dat: no key .*\. Correct filter\.f in git's settings, then try again$/,
    );
    assert.equal(made.git('branch', '--list', 'work/one'), '');
  });

  it('leaves a directory that holds something alone', async (t) => {
    const path = temporaryDirectory(t);
    writeFiles(path, { 'mine.txt': 'mine' });
    const wanted = {
      repository: known(makeRepository(t)),
      path,
      branch: 'b',
      base: 'main',
      reason: 'r',
    };
    await assert.rejects(addWorktree(testGit(t), wanted), code('git_failed'));
    assert.equal(readFileSync(join(path, 'mine.txt'), 'utf8'), 'mine');
  });

  it('makes a worktree anew whose directory was deleted by hand, with its branch as it was', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(made));
    gitIn(worktree.path)('commit', '--quiet', '--allow-empty', '-m', 'kept');
    const head = made.git('rev-parse', 'work/one');
    rmSync(worktree.path, { recursive: true });
    const again = {
      repository: known(made),
      path: worktree.path,
      branch: 'work/one',
      base: 'main',
      reason: 'a test',
    };
    await addWorktree(git, again);
    assert.equal(gitIn(worktree.path)('rev-parse', 'HEAD'), head);
    rmSync(worktree.path, { recursive: true });
    const moved = join(temporaryDirectory(t), 'elsewhere');
    await addWorktree(git, { ...again, base: head.trim(), path: moved });
    assert.equal(gitIn(moved)('rev-parse', 'HEAD'), head);
  });

  it("does not forget the operator's own worktree whose directory is away", async (t) => {
    const made = makeRepository(t);
    const path = join(temporaryDirectory(t), 'on-a-stick');
    made.git(
      'worktree',
      'add',
      '--quiet',
      '--lock',
      '--reason',
      'on a stick',
      '-b',
      'work/one',
      path,
    );
    rmSync(path, { recursive: true });
    await assert.rejects(makeWorktree(t, testGit(t), known(made)), code('branch_in_use'));
  });
});

describe('removeWorktree', () => {
  it('removes a clean one and keeps its branch', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(made));
    await removeLinkedWorktree(git, worktree, { force: false, takeAway });
    assert.equal(existsSync(worktree.path), false);
    assert.equal((await listWorktrees(git.at(known(made)))).length, 1);
    assert.match(made.git('branch'), /work\/one/);
  });

  it('refuses one with uncommitted or untracked files, and removes it only by force', async (t) => {
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(makeRepository(t)));
    writeFiles(worktree.path, { 'new.txt': 'work' });
    await assert.rejects(
      removeLinkedWorktree(git, worktree, { force: false, takeAway }),
      (error) => {
        assert.ok(error instanceof ServiceError);
        assert.equal(error.code, 'work_would_be_lost');
        assert.deepEqual(error.members, { files: ['new.txt'] });
        return true;
      },
    );
    assert.equal(readFileSync(join(worktree.path, 'new.txt'), 'utf8'), 'work');
    await removeLinkedWorktree(git, worktree, { force: true, takeAway });
    assert.equal(existsSync(worktree.path), false);
  });

  it('removes one whose repository has submodules, but not where one is checked out, unless forced', async (t) => {
    const made = makeRepository(t);
    const inner = makeRepository(t);
    made.git(
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      inner.root,
      'inner',
    );
    made.git('commit', '--quiet', '-m', 'submodule');
    const git = testGit(t);
    const one = await makeWorktree(t, git, known(made), 'one');
    await removeLinkedWorktree(git, one, { force: false, takeAway });
    assert.equal(existsSync(one.path), false);
    const two = await makeWorktree(t, git, known(made), 'two');
    gitIn(two.path)('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    await assert.rejects(
      removeLinkedWorktree(git, two, { force: false, takeAway }),
      /submodules that may contain work/,
    );
    await removeLinkedWorktree(git, two, { force: true, takeAway });
    assert.equal(existsSync(two.path), false);
  });

  it('forgets one whose directory is gone', async (t) => {
    const git = testGit(t);
    const repository = known(makeRepository(t));
    const worktree = await makeWorktree(t, git, repository);
    rmSync(worktree.path, { recursive: true });
    await removeLinkedWorktree(git, worktree, { force: false, takeAway });
    assert.equal((await listWorktrees(git.at(repository))).length, 1);
  });

  it('refuses one that was tampered with, force or not', async (t) => {
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(makeRepository(t)));
    writeFileSync(join(worktree.path, '.git'), `gitdir: ${makeRepository(t).root}/.git\n`);
    await assert.rejects(
      removeLinkedWorktree(git, worktree, { force: true, takeAway }),
      code('worktree_tampered'),
    );
    assert.equal(existsSync(join(worktree.path, 'README.md')), true);
  });
});

describe('listWorktrees', () => {
  it('tells main, detached, locked and deleted ones apart, names with line breaks included', async (t) => {
    const made = makeRepository(t);
    const root = temporaryDirectory(t);
    const odd = join(root, 'line\nbreak');
    made.git('worktree', 'add', '--quiet', '--detach', odd);
    made.git('worktree', 'add', '--quiet', '-b', 'gone', join(root, 'gone'));
    rmSync(join(root, 'gone'), { recursive: true });
    const listed = await listWorktrees(testGit(t).at(known(made)));
    assert.deepEqual(
      listed.map(({ path, branch, locked, prunable }) => ({ path, branch, locked, prunable })),
      [
        { path: made.root, branch: 'main', locked: null, prunable: false },
        { path: join(root, 'gone'), branch: 'gone', locked: null, prunable: true },
        { path: odd, branch: null, locked: null, prunable: false },
      ].sort(
        (a, b) =>
          listed.findIndex((l) => l.path === a.path) - listed.findIndex((l) => l.path === b.path),
      ),
    );
  });
});

describe('isTampered', () => {
  const changes: Record<string, (worktree: { path: string; git_dir: string }) => void> = {
    'a .git file that names another place': ({ path }) =>
      writeFileSync(join(path, '.git'), 'gitdir: /elsewhere\n'),
    'a .git file that is gone': ({ path }) => rmSync(join(path, '.git')),
    'a repository in the place of the .git file': ({ path }) => {
      rmSync(join(path, '.git'));
      mkdirSync(join(path, '.git'));
    },
    'a link in the place of the .git file': ({ path, git_dir }) => {
      rmSync(join(path, '.git'));
      symlinkSync(git_dir, join(path, '.git'));
    },
    'a commondir that names another place': ({ git_dir }) =>
      writeFileSync(join(git_dir, 'commondir'), '/elsewhere\n'),
    'a record that names another worktree': ({ git_dir }) =>
      writeFileSync(join(git_dir, 'gitdir'), '/elsewhere/.git\n'),
  };
  for (const [what, change] of Object.entries(changes)) {
    it(`notices ${what}`, async (t) => {
      const worktree = await makeWorktree(t, testGit(t), known(makeRepository(t)));
      assert.equal(await isTampered(worktree), false);
      change(worktree);
      assert.equal(await isTampered(worktree), true);
    });
  }

  it('takes a main checkout, which has a directory there, for what it is', async (t) => {
    const made = makeRepository(t);
    assert.equal(await isTampered({ ...known(made), path: made.root }), false);
  });
});
