import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { restore } from '../../../../lib/code/snapshots/restore.ts';
import { setAside } from '../../../../lib/code/snapshots/set-aside.ts';
import {
  compareSnapshot,
  dropSnapshot,
  snapshot,
} from '../../../../lib/code/snapshots/snapshot.ts';
import type { Git, GitWorktree } from '../../../../lib/tools/git/run/git.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../helpers/repository.ts';

const FILES = {
  'both.txt': '1\n2\n3\n',
  'clean.txt': 'clean\n',
  'staged.txt': 'as committed\n',
  'unstaged.txt': 'as committed\n',
  'deleted.txt': 'was here\n',
  'run.sh': '#!/bin/sh\n',
  'deep/er/file.txt': 'deep\n',
  'crlf.txt': 'a\r\nb\r\n',
  '-dash name\n.txt': 'odd\n',
  '.gitattributes': 'crlf.txt text eol=crlf\n',
  '.gitignore': 'ignored\nignored/\n',
};

interface Made {
  git: Git;
  worktree: GitWorktree;
  operator: (...args: string[]) => string;
  root: string;
}

// A worktree in the midst of work: staged and unstaged parts of one file, untracked files, a mode, a link.
const make = async (t: TestContext): Promise<Made> => {
  const made = makeRepository(t, { files: FILES });
  const git = testGit(t);
  const worktree = await makeWorktree(t, git, known(made));
  const operator = gitIn(worktree.path);
  writeFiles(worktree.path, {
    'both.txt': '1\nstaged\n3\n',
    'staged.txt': 'staged\n',
    'staged new.txt': 'new\n',
  });
  operator('add', 'both.txt', 'staged.txt', 'staged new.txt');
  writeFiles(worktree.path, {
    'both.txt': '1\nstaged\n3\nunstaged\n',
    'unstaged.txt': 'unstaged\r\nmixed\n',
    'untracked/ünï\n.txt': 'untracked\n',
    'private.env': 'SECRET=1\n',
    'ignored/kept.txt': 'kept\n',
  });
  writeFileSync(
    Buffer.concat([Buffer.from(`${worktree.path}/`), Buffer.from([0xff, 0xfe])]),
    'no UTF-8\n',
  );
  writeFileSync(join(worktree.path, 'bytes.bin'), Buffer.from([0, 255, 13, 10, 0]));
  writeFiles(worktree.path, { 'intent.txt': 'intended\n' });
  operator('add', '--intent-to-add', 'intent.txt');
  rmSync(join(worktree.path, 'deleted.txt'));
  chmodSync(join(worktree.path, 'run.sh'), 0o755);
  chmodSync(join(worktree.path, 'private.env'), 0o600);
  symlinkSync('both.txt', join(worktree.path, 'link'));
  operator('update-index', '--assume-unchanged', 'clean.txt');
  return { git, worktree, operator, root: made.root };
};

// All that restoring is about, read without the code under test.
const state = ({ worktree, operator }: Made): Record<string, unknown> => {
  const entries = readdirSync(Buffer.from(worktree.path), {
    recursive: false,
    encoding: 'buffer',
  }) as unknown as Buffer[];
  return {
    head: operator('rev-parse', 'HEAD'),
    branch: operator('rev-parse', '--symbolic-full-name', 'HEAD'),
    status: operator('status', '--porcelain=v2', '--untracked-files=all'),
    index: operator('ls-files', '--stage', '-v'),
    staged: operator('diff', '--cached', '--binary'),
    unstaged: operator('diff', '--binary'),
    names: entries.map((name) => name.toString('latin1')).sort(),
    files: readdirSync(worktree.path, { recursive: true, withFileTypes: true })
      .filter(
        (entry) => !entry.isDirectory() && entry.name !== '.git' && !entry.name.includes('\ufffd'),
      )
      .map((entry) => describeFile(join(entry.parentPath, entry.name)))
      .sort(),
  };
};

const describeFile = (path: string): string => {
  const found = lstatSync(path);
  const content = found.isSymbolicLink() ? readlinkSync(path) : readFileSync(path, 'latin1');
  return `${path} ${(found.mode & 0o777).toString(8)} ${content}`;
};

describe('compare', () => {
  it('says that nothing changed, whatever state the worktree is in', async (t) => {
    const made = await make(t);
    const before = await snapshot(made.git, made.worktree);
    const found = await compareSnapshot(made.git.at(made.worktree), before);
    assert.equal(found.changed, false);
    assert.equal(found.settings, false);
    assert.deepEqual(found.files, []);
  });

  it('does not take new file times for a change', async (t) => {
    const { git, worktree, operator } = await make(t);
    const before = await snapshot(git, worktree);
    utimesSync(join(worktree.path, 'both.txt'), 1, 1);
    writeFiles(worktree.path, { 'clean.txt': FILES['clean.txt'] });
    operator('status');
    assert.equal((await compareSnapshot(git.at(worktree), before)).changed, false);
  });

  const violations: Record<string, (made: Made) => void> = {
    'an edited file': ({ worktree }) => writeFiles(worktree.path, { 'staged.txt': 'edited\n' }),
    'an edit of the same length': ({ worktree }) =>
      writeFiles(worktree.path, { 'crlf.txt': 'a\r\nc\r\n' }),
    'an edit of a file that is assumed unchanged': ({ worktree }) =>
      writeFiles(worktree.path, { 'clean.txt': 'dirty\n' }),
    'an edit hidden by assume-unchanged': ({ worktree, operator }) => {
      operator('update-index', '--assume-unchanged', 'deep/er/file.txt');
      writeFiles(worktree.path, { 'deep/er/file.txt': 'evil\n' });
    },
    'a deletion hidden by skip-worktree': ({ worktree, operator }) => {
      operator('update-index', '--skip-worktree', 'deep/er/file.txt');
      rmSync(join(worktree.path, 'deep/er/file.txt'));
    },
    'a new file': ({ worktree }) => writeFiles(worktree.path, { 'new.txt': '' }),
    'an edited untracked file': ({ worktree }) =>
      writeFiles(worktree.path, { 'private.env': 'SECRET=2\n' }),
    'a deleted untracked file': ({ worktree }) => rmSync(join(worktree.path, 'private.env')),
    'a changed mode': ({ worktree }) => chmodSync(join(worktree.path, 'run.sh'), 0o644),
    'a link to elsewhere': ({ worktree }) => {
      rmSync(join(worktree.path, 'link'));
      symlinkSync('/etc/passwd', join(worktree.path, 'link'));
    },
    'a file that became a link': ({ worktree }) => {
      rmSync(join(worktree.path, 'crlf.txt'));
      symlinkSync('both.txt', join(worktree.path, 'crlf.txt'));
    },
    'something staged': ({ operator }) => operator('add', 'unstaged.txt'),
    'something unstaged': ({ operator }) => operator('reset', '--quiet', '--', 'staged.txt'),
    'a commit': ({ operator }) => operator('commit', '--quiet', '-m', 'evil'),
    'an amended commit': ({ operator }) =>
      operator('commit', '--quiet', '--amend', '--allow-empty', '-m', 'evil'),
    'another branch': ({ operator }) => operator('checkout', '--quiet', '-b', 'evil'),
    'a detached HEAD': ({ operator }) => operator('checkout', '--quiet', '--detach'),
    'a stash': ({ operator }) => {
      operator('reset', '--quiet', '--', 'intent.txt');
      operator('stash', '--include-untracked', '--quiet');
    },
    'a repository inside': ({ worktree }) => {
      mkdirSync(join(worktree.path, 'inner'));
      gitIn(join(worktree.path, 'inner'))('init', '--quiet');
    },
    'a .git file that names another place': ({ worktree }) =>
      writeFileSync(join(worktree.path, '.git'), 'gitdir: /evil\n'),
    'a commondir that names another place': ({ worktree, root }) =>
      writeFileSync(join(worktree.git_dir, 'commondir'), `${root}\n`),
  };
  for (const [what, violate] of Object.entries(violations)) {
    it(`notices ${what}, and restore puts it back exactly`, async (t) => {
      const made = await make(t);
      const before = await snapshot(made.git, made.worktree);
      const was = state(made);
      violate(made);
      assert.equal((await compareSnapshot(made.git.at(made.worktree), before)).changed, true);
      const { undone, left } = await restore(made.git, made.worktree, before);
      assert.equal(undone.changed, true);
      if (what === 'a repository inside') {
        assert.equal(left.repositories, true);
        return;
      }
      assert.equal(left.changed, false);
      assert.deepEqual(state(made), was);
    });
  }

  it('tells settings and ignore rules apart from the worktree', async (t) => {
    const { git, worktree, root } = await make(t);
    const before = await snapshot(git, worktree);
    writeFiles(root, { '.git/info/exclude': 'evil.txt\n' });
    const { changed, settings } = await compareSnapshot(git.at(worktree), before);
    assert.deepEqual({ changed, settings }, { changed: false, settings: true });
  });
});

describe('restore', () => {
  it('does nothing where nothing changed, and leaves no ref', async (t) => {
    const made = await make(t);
    const before = await snapshot(made.git, made.worktree);
    const { kept_ref, patch } = await restore(made.git, made.worktree, before);
    assert.equal(kept_ref, null);
    assert.equal(patch.length, 0);
    assert.doesNotMatch(made.operator('for-each-ref'), /undone/);
  });

  it('undoes everything at once, keeps a patch of it and the whole state under a ref', async (t) => {
    const made = await make(t);
    const { git, worktree, operator } = made;
    operator('reset', '--quiet', '--', 'intent.txt');
    const before = await snapshot(git, worktree);
    const was = state(made);
    operator('checkout', '--quiet', '-b', 'evil');
    rmSync(join(worktree.path, 'deep'), { recursive: true });
    writeFiles(worktree.path, {
      deep: 'a file where a directory was\n',
      'clean.txt': 'evil\n',
      'added/a.txt': 'added\n',
    });
    rmSync(join(worktree.path, 'both.txt'));
    writeFiles(worktree.path, { 'both.txt/inside.txt': 'a directory where a file was\n' });
    operator('add', '--all');
    operator('commit', '--quiet', '-m', 'evil');
    rmSync(join(worktree.path, 'run.sh'));
    const { undone, patch, kept_ref, left } = await restore(git, worktree, before);
    assert.equal(left.changed, false);
    assert.deepEqual(state(made), was);
    assert.equal(undone.branch && undone.head && undone.index, true);
    assert.match(patch.toString(), /^\+added$/m);
    assert.ok(kept_ref);
    assert.equal(operator('show', `${kept_ref}:files/added/a.txt`), 'added\n');
    assert.match(operator('log', '--format=%s', '-2', kept_ref), /evil/);
    const text = join(temporaryDirectory(t), 'undone.patch');
    writeFileSync(text, patch);
    operator('apply', '--whitespace=nowarn', text);
    assert.equal(readFileSync(join(worktree.path, 'added/a.txt'), 'utf8'), 'added\n');
  });

  it('keeps what is written after the state was kept, too', async (t) => {
    const { git, worktree, operator } = await make(t);
    const before = await snapshot(git, worktree);
    writeFiles(worktree.path, { 'early.txt': 'early\n' });
    const { left } = await restore(git, worktree, before, async () => {
      writeFiles(worktree.path, { 'late.txt': 'late\n', 'early.txt': 'later\n' });
    });
    assert.equal(left.changed, false);
    const refs = operator('for-each-ref', '--format=%(refname)', 'refs/dossier/undone');
    const all = refs.trim().split('\n');
    const kept = all.map((ref) => operator('ls-tree', '-r', '--name-only', `${ref}:files`));
    const late = all[kept.findIndex((names) => names.includes('late.txt'))];
    assert.equal(operator('show', `${late}:files/late.txt`), 'late\n');
    assert.equal(operator('show', `${late}:files/early.txt`), 'later\n');
  });

  it('undoes a merge that stopped at a conflict', async (t) => {
    const made = await make(t);
    const { git, worktree, operator, root } = made;
    operator('reset', '--quiet', '--', 'intent.txt');
    writeFiles(root, { 'deep/er/file.txt': 'theirs\n' });
    gitIn(root)('commit', '--quiet', '-am', 'theirs');
    writeFiles(worktree.path, { 'deep/er/file.txt': 'ours\n' });
    operator('commit', '--quiet', '-am', 'ours');
    const before = await snapshot(git, worktree);
    const was = state(made);
    assert.throws(() => operator('merge', 'main'));
    assert.equal((await compareSnapshot(git.at(worktree), before)).operations, true);
    assert.equal((await restore(git, worktree, before)).left.changed, false);
    assert.deepEqual(state(made), was);
    assert.equal(existsSync(join(worktree.git_dir, 'MERGE_HEAD')), false);
  });

  it('never writes through a link that an agent put in the place of a directory', async (t) => {
    const made = await make(t);
    const elsewhere = temporaryDirectory(t);
    const before = await snapshot(made.git, made.worktree);
    rmSync(join(made.worktree.path, 'deep'), { recursive: true });
    writeFiles(elsewhere, { 'er/file.txt': 'not mine\n' });
    symlinkSync(elsewhere, join(made.worktree.path, 'deep'));
    assert.equal((await restore(made.git, made.worktree, before)).left.changed, false);
    assert.equal(readFileSync(join(elsewhere, 'er/file.txt'), 'utf8'), 'not mine\n');
    assert.equal(readFileSync(join(made.worktree.path, 'deep/er/file.txt'), 'utf8'), 'deep\n');
  });

  it('does not write through a second name of a file', async (t) => {
    const made = await make(t);
    const outside = join(temporaryDirectory(t), 'outside.txt');
    const before = await snapshot(made.git, made.worktree);
    writeFileSync(outside, 'not mine\n');
    rmSync(join(made.worktree.path, 'private.env'));
    linkSync(outside, join(made.worktree.path, 'private.env'));
    await restore(made.git, made.worktree, before);
    assert.equal(readFileSync(outside, 'utf8'), 'not mine\n');
  });

  it('puts back text that the attribute `ident` hides from git', async (t) => {
    const { git, worktree, operator } = await make(t);
    const file = join(worktree.path, 'ident.js');
    writeFileSync(join(worktree.path, '.gitattributes'), '*.js ident\n');
    writeFileSync(file, '/*$Id: good $*/\n');
    operator('add', 'ident.js');
    operator('commit', '--quiet', '-m', 'ident');
    const before = await snapshot(git, worktree);
    writeFileSync(file, '/*$Id: */evil()/* $*/\n');
    operator('add', 'ident.js');
    await restore(git, worktree, before);
    assert.equal(readFileSync(file, 'utf8'), '/*$Id: good $*/\n');
  });

  it('leaves ignored files alone, even in the place of a file', async (t) => {
    const made = await make(t);
    const before = await snapshot(made.git, made.worktree);
    rmSync(join(made.worktree.path, 'staged.txt'));
    writeFiles(made.worktree.path, { 'staged.txt/ignored': 'mine\n', ignored2: 'x' });
    const { left } = await restore(made.git, made.worktree, before);
    assert.deepEqual(left.files, [{ path: 'staged.txt', change: 'deleted' }]);
    assert.equal(readFileSync(join(made.worktree.path, 'staged.txt/ignored'), 'utf8'), 'mine\n');
    assert.equal(readFileSync(join(made.worktree.path, 'ignored/kept.txt'), 'utf8'), 'kept\n');
  });

  it('puts back a worktree on a branch without a commit', async (t) => {
    const made = await make(t);
    made.operator('checkout', '--quiet', '--orphan', 'unborn');
    const before = await snapshot(made.git, made.worktree);
    made.operator('commit', '--quiet', '-m', 'first');
    const { left } = await restore(made.git, made.worktree, before);
    assert.equal(left.changed, false);
    assert.throws(() => made.operator('rev-parse', '--verify', 'HEAD'));
  });

  it('answers worktree_busy for a lock on the index and leaves it there', async (t) => {
    const made = await make(t);
    const before = await snapshot(made.git, made.worktree);
    made.operator('add', 'unstaged.txt');
    const lock = join(made.worktree.git_dir, 'index.lock');
    writeFileSync(lock, '');
    const hourAgo = Date.now() / 1000 - 3600;
    utimesSync(lock, hourAgo, hourAgo);
    await assert.rejects(
      restore(made.git, made.worktree, before),
      /index\.lock for 3[56]\d\d s\. Try again when it has ended; if none runs, delete the file/,
    );
    assert.equal(existsSync(lock), true);
  });

  it('takes over its own lock on the index that a kill left', async (t) => {
    const made = await make(t);
    const before = await snapshot(made.git, made.worktree);
    made.operator('add', 'unstaged.txt');
    const index = join(made.worktree.git_dir, 'index');
    writeFileSync(`${index}.dossier`, '');
    linkSync(`${index}.dossier`, `${index}.lock`);
    const { left } = await restore(made.git, made.worktree, before);
    assert.equal(left.changed, false);
    assert.equal(existsSync(`${index}.lock`), false);
  });
});

describe('setAside', () => {
  it('changes nothing where a file is written after it was saved', async (t) => {
    const { git, worktree, operator } = await make(t);
    const late: Git = {
      ...git,
      turn: (place, work) =>
        git.turn(place, (now) => {
          const run: typeof now.run = async (args, options) => {
            const result = await now.run(args, options);
            if (args[0] === 'update-ref') writeFiles(worktree.path, { 'clean.txt': 'late\n' });
            return result;
          };
          return work({ ...now, run });
        }),
    };
    await assert.rejects(
      setAside(late, worktree, 'one'),
      /changed while they were being set aside/,
    );
    assert.equal(readFileSync(join(worktree.path, 'clean.txt'), 'utf8'), 'late\n');
    assert.equal(
      operator('diff', '--cached', '--name-only', '--', 'staged.txt').trim(),
      'staged.txt',
    );
    assert.equal(operator('for-each-ref', 'refs/dossier'), '');
  });
});

describe('snapshot', () => {
  it('changes nothing in the worktree', async (t) => {
    const made = await make(t);
    const was = state(made);
    const index = statSync(join(made.worktree.git_dir, 'index')).mtimeMs;
    await snapshot(made.git, made.worktree);
    assert.equal(statSync(join(made.worktree.git_dir, 'index')).mtimeMs, index);
    assert.deepEqual(state(made), was);
  });

  it('outlives a clean-up of the repository, and being written to a file', async (t) => {
    const made = await make(t);
    made.operator('reset', '--quiet', '--', 'intent.txt');
    const before = JSON.parse(JSON.stringify(await snapshot(made.git, made.worktree)));
    const was = state(made);
    made.operator('checkout', '--quiet', '--force', '--detach');
    made.operator('clean', '-fdq');
    made.operator('-c', 'gc.reflogExpire=now', 'gc', '--quiet', '--prune=now');
    assert.equal((await restore(made.git, made.worktree, before)).left.changed, false);
    assert.deepEqual(state(made), was);
  });

  it('is let go of', async (t) => {
    const made = await make(t);
    const before = await snapshot(made.git, made.worktree);
    assert.match(made.operator('for-each-ref'), new RegExp(before.ref));
    await dropSnapshot(made.git.at(made.worktree), before);
    assert.doesNotMatch(made.operator('for-each-ref'), /dossier/);
  });
});
