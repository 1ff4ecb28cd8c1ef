import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  plainCommit,
  plainRef,
  plainTarget,
} from '../../../../../lib/tools/git/read/plain-refs.ts';
import { findRepository, plainRepository } from '../../../../../lib/tools/git/read/repository.ts';
import {
  known,
  makeRepository,
  type TestRepository,
  temporaryDirectory,
  testGit,
} from '../../../../helpers/repository.ts';

interface Made extends TestRepository {
  first: string;
  second: string;
}

// Branches of all sorts on two commits.
const make = (t: TestContext): Made => {
  const made = makeRepository(t);
  const { git } = made;
  const first = git('rev-parse', 'HEAD').trim();
  git('branch', 'packed');
  git('branch', 'work/deep-1');
  git('update-ref', 'refs/remotes/origin/trunk', first);
  git('pack-refs', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'two');
  git('branch', 'loose');
  git('branch', 'both');
  git('symbolic-ref', 'refs/heads/stands-for', 'refs/heads/loose');
  git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk');
  return { ...made, first, second: git('rev-parse', 'HEAD').trim() };
};

const NAMES = [
  ...['HEAD', 'main', 'packed', 'work/deep-1', 'work', 'loose', 'both', 'stands-for', 'absent'],
  ...[
    'origin/trunk',
    'origin',
    'origin/HEAD',
    'refs/heads/main',
    'refs/heads/packed',
    'refs/heads/main/below',
    'heads/main',
  ],
  ...[
    'refs/remotes/origin/trunk',
    'refs/remotes/origin/HEAD',
    'refs/heads/absent',
    'tags/v1',
    'v1',
  ],
  ...['ORIG_HEAD', 'config', 'objects', '@', '-x', 'a..b', 'main.lock', 'refs/heads/../heads/main'],
];

// What git says of it; null where it knows no such thing.
const commitIn = ({ git }: Made, name: string): string | null => {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`).trim();
  } catch {
    return null;
  }
};

describe('plainCommit', () => {
  it('says what git says, or nothing, also of names that mean several things', (t) => {
    const made = make(t);
    const same = (): void => {
      const place = known(made);
      for (const name of NAMES) {
        const plain = plainCommit(place, name);
        if (plain === undefined) continue;
        assert.equal(plain, commitIn(made, name), name);
      }
    };
    same();
    made.git('tag', 'main', made.first);
    made.git('tag', '-a', '-m', 'x', 'packed', made.second);
    made.git('update-ref', 'refs/both', made.first);
    made.git('branch', 'v1', made.first);
    made.git('tag', 'v1', made.second);
    made.git('branch', 'config', made.first);
    made.git('checkout', '--quiet', '--detach', 'packed^{commit}');
    same();
    made.git('pack-refs', '--all');
    same();
  });

  it('knows HEAD and branches, loose, packed, moved since and of a remote', (t) => {
    const made = make(t);
    const place = known(made);
    for (const name of ['HEAD', 'main', 'loose', 'refs/heads/both'])
      assert.equal(plainCommit(place, name), made.second, name);
    for (const name of ['packed', 'work/deep-1', 'origin/trunk', 'refs/remotes/origin/trunk'])
      assert.equal(plainCommit(place, name), made.first, name);
  });

  it('answers in a worktree what HEAD is there', (t) => {
    const made = make(t);
    const { git } = made;
    const linked = join(temporaryDirectory(t), 'linked');
    git('worktree', 'add', '--quiet', linked, 'packed');
    const common_dir = join(made.root, '.git');
    const place = { git_dir: join(common_dir, 'worktrees', 'linked'), common_dir };
    assert.equal(plainCommit(place, 'HEAD'), made.first);
  });

  it('leaves to git a branch without a commit, and one behind a link', (t) => {
    const made = make(t);
    const heads = join(made.root, '.git/refs/heads');
    renameSync(join(heads, 'loose'), join(heads, 'moved'));
    symlinkSync('moved', join(heads, 'loose'));
    assert.equal(plainCommit(known(made), 'loose'), undefined);
    made.git('symbolic-ref', 'HEAD', 'refs/heads/unborn');
    assert.equal(plainCommit(known(made), 'HEAD'), undefined);
  });
});

describe('plainRef', () => {
  it('says surely that there is no such ref, but not where refs may be kept otherwise', (t) => {
    const made = make(t);
    const place = known(made);
    assert.equal(plainRef(place, 'refs/heads/absent'), null);
    made.git('branch', 'below/one');
    assert.equal(plainRef(place, 'refs/heads/below'), undefined, 'a directory');
    made.git('config', 'extensions.refStorage', 'reftable');
    assert.equal(plainRef(place, 'refs/heads/absent'), undefined);
    assert.equal(plainRef(place, 'refs/heads/main'), undefined);
  });

  it('follows no symbolic ref, and names what it stands for', (t) => {
    const place = known(make(t));
    assert.equal(plainTarget(place, 'HEAD'), 'refs/heads/main');
    assert.equal(plainTarget(place, 'refs/remotes/origin/HEAD'), 'refs/remotes/origin/trunk');
    assert.equal(plainTarget(place, 'refs/remotes/other/HEAD'), null);
    assert.equal(plainTarget(place, 'refs/heads/main'), undefined, 'git says what is wrong');
  });
});

describe('plainRepository', () => {
  it('finds what git finds, by the same paths', async (t) => {
    const { root } = makeRepository(t);
    const link = join(temporaryDirectory(t), 'link');
    symlinkSync(root, link);
    for (const path of [root, link]) {
      const plain = plainRepository(path);
      assert.deepEqual(plain && { bare: false, ...plain }, await asGitSays(t, path));
    }
  });

  it('leaves to git all that is not as git makes it', (t) => {
    const settings = [
      ['core.worktree', '/'],
      ['core.bare', 'true'],
      ['core.repositoryformatversion', '1'],
      ['extensions.worktreeConfig', 'true'],
      ['include.path', 'other'],
    ];
    for (const [key = '', value = ''] of settings) {
      const { root, git } = makeRepository(t);
      git('config', key, value);
      assert.equal(plainRepository(root), undefined, key);
    }
    const { root, git } = makeRepository(t);
    mkdirSync(join(root, 'below'));
    assert.equal(plainRepository(join(root, 'below')), undefined, 'a directory of it');
    assert.equal(plainRepository(join(root, '.git')), undefined, 'its git directory');
    assert.equal(plainRepository(join(root, 'absent')), undefined);
    const linked = join(temporaryDirectory(t), 'linked');
    git('worktree', 'add', '--quiet', linked);
    assert.equal(plainRepository(linked), undefined, 'a linked worktree');
    rmSync(join(root, '.git/objects'), { recursive: true });
    assert.equal(plainRepository(root), undefined, 'half of one');
    const text = makeRepository(t);
    writeFileSync(join(text.root, '.git/config'), '[core\n');
    assert.equal(plainRepository(text.root), undefined, 'settings that git does not read');
  });
});

// From a directory below git itself has to look for it.
const asGitSays = async (t: TestContext, path: string) => {
  const below = join(path, 'a-directory-of-it');
  mkdirSync(below, { recursive: true });
  return findRepository(testGit(t), below);
};
