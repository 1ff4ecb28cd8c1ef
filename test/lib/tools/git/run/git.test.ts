import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { takePicture } from '../../../../../lib/code/snapshots/picture.ts';
import { snapshot } from '../../../../../lib/code/snapshots/snapshot.ts';
import { ServiceError } from '../../../../../lib/errors.ts';
import { worktreeChanges } from '../../../../../lib/tools/git/read/diff.ts';
import { findRepository } from '../../../../../lib/tools/git/read/repository.ts';
import { status } from '../../../../../lib/tools/git/read/status.ts';
import { createGit } from '../../../../../lib/tools/git/run/create-git.ts';
import { GitError, gitProblem } from '../../../../../lib/tools/git/run/error.ts';
import { addWorktree } from '../../../../../lib/tools/git/write/worktree.ts';
import { cleanEnvironment } from '../../../../../lib/tools/process/environment.ts';
import { atEnd } from '../../../../helpers/at-end.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

const problem =
  (code: string, detail: RegExp) =>
  (error: unknown): boolean =>
    error instanceof ServiceError && error.code === code && detail.test(error.message);

// A program that leaves a mark, and how git would be led to run it.
const trap = (t: TestContext): { program: string; mark: string } => {
  const root = temporaryDirectory(t);
  const mark = join(root, 'was-run');
  const program = join(root, 'trap');
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`);
  chmodSync(program, 0o755);
  return { program, mark };
};

describe('createGit', () => {
  it('says what to install where there is no git', async () => {
    const git = createGit({ env: { PATH: '/no/such' } });
    await assert.rejects(
      git.at('/').run(['version'], { read: true }),
      problem('unavailable', /not installed/),
    );
  });

  it('passes over a git that a relative PATH would find', (t) => {
    const root = temporaryDirectory(t);
    writeFiles(root, { git: '#!/bin/sh\n' });
    chmodSync(join(root, 'git'), 0o755);
    assert.equal(createGit({ env: { PATH: `.:${root}` } }).program, join(root, 'git'));
    assert.equal(createGit({ env: { PATH: '.:node_modules/.bin' } }).program, undefined);
  });
});

describe('Git.run', () => {
  it('waits until objects, refs and index are on the disk, whatever the repository says', async (t) => {
    const { root, git } = makeRepository(t);
    const said = { 'core.fsync': 'none', 'core.fsyncMethod': 'writeout-only' };
    const wanted = { 'core.fsync': 'all', 'core.fsyncMethod': 'fsync' };
    for (const [key, value] of Object.entries(said)) git('config', key, value);
    for (const [key, value] of Object.entries(wanted)) {
      const { stdout } = await testGit(t).at(root).run(['config', key], { read: true });
      assert.equal(stdout.toString(), `${value}\n`);
    }
  });

  it('inherits no GIT_ variable', async (t) => {
    const { root } = makeRepository(t);
    const git = createGit({
      env: { PATH: process.env.PATH ?? '', GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/x' },
    });
    const { stdout } = await git.at(root).run(['rev-parse', '--git-dir'], { read: true });
    assert.equal(stdout.toString(), '.git\n');
  });

  it('throws the first lines of what git said, with the exit code in the cause', async (t) => {
    const { root } = makeRepository(t);
    const error = await testGit(t)
      .at(root)
      .run(['rev-parse', 'nothing'])
      .catch((thrown) => thrown);
    assert.ok(problem('git_failed', /ambiguous argument 'nothing'/)(error));
    assert.ok(error.cause instanceof GitError);
    assert.equal(error.cause.exit_code, 128);
  });

  it('answers with the exit codes that are said to be an answer', async (t) => {
    const { root } = makeRepository(t);
    const { code } = await testGit(t)
      .at(root)
      .run(['diff', '--quiet', '--no-index', 'README.md', '.git/HEAD'], { ok: [1] });
    assert.equal(code, 1);
  });

  it('ends a command that takes too long, and one that answers too much', async (t) => {
    const { root } = makeRepository(t);
    const git = testGit(t);
    const endless = (async function* () {
      yield await new Promise<Buffer>(() => undefined);
    })();
    await assert.rejects(
      git.at(root).run(['hash-object', '--stdin'], { input: endless, timeout_ms: 50 }),
      problem('tool_timeout', /hash-object/),
    );
    await assert.rejects(
      git.at(root).run(['cat-file', 'blob', 'HEAD:README.md'], { max_bytes: 3 }),
      problem('git_failed', /exceeds the limit/),
    );
  });

  it('names a directory that does not exist', async (t) => {
    await assert.rejects(
      testGit(t).at('/no/such/place').run(['status'], { read: true }),
      problem('git_failed', /^The directory \/no\/such\/place does not exist\. /),
    );
  });

  it('waits for a lock to go away', async (t) => {
    const { root, git: operator } = makeRepository(t);
    const lock = join(root, '.git', 'index.lock');
    writeFileSync(lock, '');
    const timer = setTimeout(() => rmSync(lock), 150);
    atEnd(t, () => clearTimeout(timer));
    writeFiles(root, { 'new.txt': 'x' });
    await testGit(t).at(root).run(['add', '--', 'new.txt']);
    assert.match(operator('status', '--short'), /A {2}new.txt/);
  });

  it('answers worktree_busy for a lock that stays, and never deletes it; reads go on', async (t) => {
    const { root } = makeRepository(t);
    const git = testGit(t);
    const lock = join(root, '.git', 'index.lock');
    writeFileSync(lock, '');
    await git.at(root).run(['status'], { read: true });
    await assert.rejects(
      git.at(root).run(['add', '--all']),
      problem('worktree_busy', /has held .*index\.lock for \d+ s/),
    );
    assert.equal(existsSync(lock), true);
  });

  it('removes a lock of refs that is older than the start of the machine', async (t) => {
    const { root, git: operator } = makeRepository(t);
    const git_dir = join(root, '.git');
    operator('branch', 'packed');
    operator('branch', 'loose');
    operator('pack-refs', '--all');
    const place = { git_dir, common_dir: git_dir };
    for (const [name, ref] of [
      ['packed-refs.lock', 'refs/heads/packed'],
      ['refs/heads/loose.lock', 'refs/heads/loose'],
    ] as const) {
      const lock = join(git_dir, name);
      writeFileSync(lock, '');
      utimesSync(lock, 1, 1);
      await testGit(t).at(place).run(['update-ref', '-d', ref]);
      assert.equal(existsSync(lock), false, name);
      assert.equal(operator('for-each-ref', ref), '');
    }
  });

  it('removes a lock of its own refs from before the clock was set back', async (t) => {
    const git_dir = join(makeRepository(t).root, '.git');
    const lock = join(git_dir, 'refs/dossier/kept/one.lock');
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, '');
    const later = Date.now() / 1000 + 40 * 86_400;
    utimesSync(lock, later, later);
    const place = { git_dir, common_dir: git_dir };
    await testGit(t).at(place).run(['update-ref', 'refs/dossier/kept/one', 'HEAD']);
    assert.equal(existsSync(lock), false);
  });

  it('leaves a lock of refs that is younger, and any other lock', async (t) => {
    const { root, git: operator } = makeRepository(t);
    const git_dir = join(root, '.git');
    operator('branch', 'packed');
    operator('pack-refs', '--all');
    const started = Date.now() / 1000 - uptime();
    const staysFor = async (name: string, at: number, args: string[]): Promise<void> => {
      const lock = join(git_dir, name);
      writeFileSync(lock, '');
      utimesSync(lock, at, at);
      const busy = testGit(t).at({ git_dir, common_dir: git_dir }).run(args);
      await assert.rejects(busy, problem('worktree_busy', /has held .* for \d+ s/));
      assert.equal(existsSync(lock), true, name);
    };
    await Promise.all([
      staysFor('packed-refs.lock', started + 1, ['update-ref', '-d', 'refs/heads/packed']),
      staysFor('config.lock', 1, ['config', 'a.b', 'c']),
    ]);
  });

  it('knows the lock of the settings, too', async (t) => {
    const { root } = makeRepository(t);
    writeFileSync(join(root, '.git', 'config.lock'), '');
    await assert.rejects(
      testGit(t)
        .at(known({ root, git: () => '' }))
        .run(['config', 'user.name', 'x']),
      problem('worktree_busy', /has held .*config\.lock for \d+ s/),
    );
  });

  it('does one write at a time in a repository', async (t) => {
    const repository = known(makeRepository(t));
    const git = testGit(t);
    const order: string[] = [];
    const slow = git.turn(repository, async (now) => {
      order.push('first begins');
      await now.read(['rev-parse', 'HEAD']);
      order.push('first ends');
    });
    const next = git
      .at(repository)
      .run(['update-ref', 'refs/heads/x', 'HEAD'])
      .then(() => order.push('second'));
    const failing = git.at(repository).run(['update-ref', 'refs/heads/y', 'nothing']);
    await assert.rejects(failing);
    await Promise.all([slow, next]);
    assert.deepEqual(order, ['first begins', 'first ends', 'second']);
  });
});

describe('gitProblem', () => {
  it('passes a ServiceError on and wraps what is none', () => {
    const own = new ServiceError('branch_in_use', 'x');
    assert.equal(gitProblem(own), own);
    const { code, message } = gitProblem(new Error('odd'));
    assert.deepEqual([code, message], ['git_failed', 'git could not be started: odd.']);
  });

  it('knows a branch that is checked out elsewhere in the words of old and new git', () => {
    for (const words of ['already checked out at', 'already used by worktree at']) {
      const stderr = `fatal: 'b' is ${words} '/some where'`;
      const { code, message } = gitProblem(
        new GitError({ args: ['worktree'], failure: 'failed', stderr }),
      );
      assert.equal(code, 'branch_in_use');
      assert.match(message, /\/some where/);
    }
  });

  it('knows a full disk', () => {
    const stderr = 'error: file write error: No space left on device';
    assert.equal(
      gitProblem(new GitError({ args: ['add'], failure: 'failed', stderr })).code,
      'disk_full',
    );
  });
});

describe('a repository that cannot be written', () => {
  it('is said with what to do, in addition to the words of git', () => {
    for (const stderr of [
      "fatal: cannot lock ref 'refs/heads/x': Unable to create '/r/.git/refs/heads/x.lock': Permission denied",
      "fatal: cannot lock ref 'refs/dossier/x': unable to create directory for .git/refs/dossier/x",
      'error: insufficient permission for adding an object to repository database /r/.git/objects\n',
    ]) {
      const { message } = gitProblem(new GitError({ args: ['branch'], failure: 'failed', stderr }));
      assert.ok(message.startsWith(stderr.trim()), message);
      assert.match(message, /give its user write access to it, then try again\.$/);
    }
  });

  it('names a full disk and a read-only file system, where git gives that or no reason', () => {
    for (const [stderr, advice] of [
      ['fatal: unable to create directory for .git/refs/x', /if its disk is full \(df, df -i\)/],
      ["fatal: Unable to create '/r/x.lock': Read-only file system", /: mount it writable, then/],
    ] as const) {
      const { message } = gitProblem(new GitError({ args: ['branch'], failure: 'failed', stderr }));
      assert.match(message, advice);
    }
  });
});

describe('a hostile repository', () => {
  const everything = async (
    t: TestContext,
    prepare: (set: (key: string, value: string) => void, program: string, root: string) => void,
  ): Promise<string> => {
    const { program, mark } = trap(t);
    const made = makeRepository(t, {
      files: {
        'a.txt': 'a\n',
        'b.bin': 'b\n',
        '.gitattributes': '* filter=evil diff=evil merge=evil\na.txt filter=a=b\n',
      },
    });
    const git = testGit(t);
    prepare((key, value) => made.git('config', key, value), program, made.root);
    const worktree = await makeWorktree(t, git, known(made));
    writeFiles(worktree.path, { 'a.txt': 'changed\n', 'new.txt': 'new\n' });
    await status(git.at(worktree));
    await worktreeChanges(git.at(worktree), { base: 'main' });
    await snapshot(git, worktree);
    await git.at(worktree).run(['add', '--all']);
    await git.at(worktree).run(['-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-m', 'x']);
    return mark;
  };

  it('runs no hook', async (t) => {
    const mark = await everything(t, (set, program, root) => {
      for (const hook of [
        'post-checkout',
        'pre-commit',
        'post-commit',
        'post-index-change',
        'reference-transaction',
        'prepare-commit-msg',
      ]) {
        writeFiles(root, { [`evil-hooks/${hook}`]: `#!/bin/sh\n${program} < /dev/null\n` });
        chmodSync(join(root, 'evil-hooks', hook), 0o755);
      }
      set('core.hooksPath', join(root, 'evil-hooks'));
    });
    assert.equal(existsSync(mark), false);
  });

  it('runs no monitor, pager, editor, signer or prompt', async (t) => {
    const mark = await everything(t, (set, program) => {
      for (const key of [
        'core.fsmonitor',
        'core.pager',
        'core.editor',
        'gpg.program',
        'core.askPass',
        'diff.external',
        'core.sshCommand',
      ])
        set(key, program);
      set('commit.gpgSign', 'true');
    });
    assert.equal(existsSync(mark), false);
  });

  it('runs no filter, text conversion or merge driver, whatever its name', async (t) => {
    const mark = await everything(t, (set, program) => {
      for (const name of ['evil', 'a=b']) {
        for (const key of ['clean', 'smudge', 'process']) set(`filter.${name}.${key}`, program);
        set(`filter.${name}.required`, 'true');
      }
      set('diff.evil.textconv', program);
      set('diff.evil.command', program);
      set('merge.evil.driver', program);
    });
    assert.equal(existsSync(mark), false);
  });

  for (const [where, say] of Object.entries({
    'alone in the settings': (git_dir: string, filter: string) =>
      appendFileSync(join(git_dir, 'config'), filter),
    'in a file that they take in': (git_dir: string, filter: string) => {
      writeFileSync(join(git_dir, 'more'), filter);
      appendFileSync(join(git_dir, 'config'), '[include]\n\tpath = more\n');
    },
    "in a worktree's own": (git_dir: string, filter: string) => {
      appendFileSync(join(git_dir, 'config'), '[extensions]\n\tworktreeConfig = true\n');
      writeFileSync(join(git_dir, 'config.worktree'), filter);
    },
    'behind a link': (git_dir: string, filter: string) => {
      const config = join(git_dir, 'config');
      renameSync(config, join(git_dir, 'linked'));
      appendFileSync(join(git_dir, 'linked'), filter);
      symlinkSync('linked', config);
    },
  }))
    it(`runs no filter that is named ${where}`, async (t) => {
      const mark = await everything(t, (_set, program, root) =>
        say(join(root, '.git'), `[filter "evil"]\n\tclean = ${program}\n`),
      );
      assert.equal(existsSync(mark), false);
    });

  it('is a real one: plain git runs the filter', async (t) => {
    const { program, mark } = trap(t);
    const { root, git } = makeRepository(t, {
      files: { 'a.txt': 'a\n', '.gitattributes': '* filter=evil\n' },
    });
    git('config', 'filter.evil.clean', program);
    writeFiles(root, { 'a.txt': 'changed\n' });
    git('add', '--all');
    assert.equal(existsSync(mark), true);
  });

  it("still runs the operator's own filters, which no agent can edit", async (t) => {
    const home = temporaryDirectory(t);
    writeFiles(home, { '.gitconfig': '[filter "shout"]\n\tclean = tr a-z A-Z\n' });
    const git = createGit({ env: cleanEnvironment({ PATH: process.env.PATH }, { HOME: home }) });
    const { root, git: operator } = makeRepository(t, {
      files: { '.gitattributes': '*.txt filter=shout\n' },
    });
    writeFiles(root, { 'a.txt': 'quiet\n' });
    await git.at(root).run(['add', '--all']);
    assert.equal(operator('cat-file', 'blob', ':a.txt'), 'QUIET\n');
  });

  it('merges by text where its merge driver is taken out', async (t) => {
    const { root, git: operator } = makeRepository(t, {
      files: { 'a.txt': '1\n2\n3\n4\n5\n', '.gitattributes': '* merge=evil\n' },
    });
    operator('config', 'merge.evil.driver', 'true');
    operator('checkout', '--quiet', '-b', 'other');
    writeFiles(root, { 'a.txt': '1\n2\n3\n4\nfive\n' });
    operator('commit', '--quiet', '-am', 'other');
    operator('checkout', '--quiet', 'main');
    writeFiles(root, { 'a.txt': 'one\n2\n3\n4\n5\n' });
    operator('commit', '--quiet', '-am', 'main');
    await testGit(t)
      .at(root)
      .run(['-c', 'user.name=n', '-c', 'user.email=e', 'merge', '--no-edit', 'other']);
    assert.equal(operator('cat-file', 'blob', 'HEAD:a.txt'), 'one\n2\n3\n4\nfive\n');
  });

  it('is not looked at when the .git file of a worktree is pointed to it', async (t) => {
    const { program, mark } = trap(t);
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(makeRepository(t)));
    const evil = makeRepository(t);
    evil.git('config', 'core.fsmonitor', program);
    writeFileSync(join(worktree.path, '.git'), `gitdir: ${evil.root}/.git\n`);
    assert.equal((await status(git.at(worktree))).branch, 'work/one');
    assert.equal((await takePicture(git.at(worktree))).tampered, true);
    assert.equal(existsSync(mark), false);
  });

  it('is not looked at when commondir is pointed to it', async (t) => {
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(makeRepository(t)));
    const evil = makeRepository(t, { files: { 'evil.txt': 'x' } });
    writeFileSync(join(worktree.git_dir, 'commondir'), `${evil.root}/.git\n`);
    await assert.rejects(status(git.at(worktree)), problem('worktree_tampered', /worktree repair/));
  });

  it('is not looked at when its main checkout is pointed to it', async (t) => {
    const { program, mark } = trap(t);
    const git = testGit(t);
    const made = makeRepository(t, { files: { 'a.txt': 'a\n', '.gitattributes': '* filter=x\n' } });
    const evil = makeRepository(t);
    evil.git('config', 'filter.x.clean', program);
    writeFileSync(join(made.root, '.git', 'commondir'), `${evil.root}/.git\n`);
    writeFiles(made.root, { 'a.txt': 'b\n' });
    const place = { ...known(made), path: made.root };
    await assert.rejects(
      status(git.at(place)),
      problem('worktree_tampered', /git's record of the worktree was changed/),
    );
    assert.equal(existsSync(mark), false);
  });

  it('is not fetched from for what a partial clone lacks, and the error has the command that fetches it', async (t) => {
    const { root, git: theirs } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    theirs('config', 'uploadpack.allowFilter', 'true');
    const path = join(temporaryDirectory(t), "it's partial");
    gitIn(root)('clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${root}`, path);
    const repository = await findRepository(testGit(t), path);
    assert.ok(repository);
    const wanted = { repository, path: `${path}-w`, branch: 'w', base: 'main', reason: 'r' };
    const error = await addWorktree(testGit(t), wanted).then(
      () => '',
      (why: Error) => why.message,
    );
    const [, command = ''] =
      /is a partial clone that lacks objects.* run: (git -C .*)$/.exec(error) ?? [];
    execFileSync('sh', ['-c', command], { stdio: 'ignore' });
    assert.equal((await addWorktree(testGit(t), wanted)).path, wanted.path);
    assert.equal(readFileSync(join(wanted.path, 'a.txt'), 'utf8'), 'one\n');
  });

  it('is not fetched from for a missing object', async (t) => {
    const { program, mark } = trap(t);
    const made = makeRepository(t);
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(made));
    made.git('config', 'remote.evil.url', made.root);
    made.git('config', 'remote.evil.promisor', 'true');
    made.git('config', 'remote.evil.uploadpack', program);
    made.git('config', 'extensions.partialClone', 'evil');
    await assert.rejects(
      git.at(worktree).run(['cat-file', 'blob', '1234567890123456789012345678901234567890'], {
        read: true,
      }),
    );
    assert.equal(existsSync(mark), false);
  });
});

describe('addWorktree under load', () => {
  it('makes thirty at once in one repository', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t);
    const root = temporaryDirectory(t);
    const all = Array.from({ length: 30 }, (_, at) =>
      addWorktree(git, {
        repository: known(made),
        path: join(root, `w${at}`),
        branch: `work/${at}`,
        base: 'main',
        reason: 'r',
      }),
    );
    const worktrees = await Promise.all(all);
    assert.equal(new Set(worktrees.map((worktree) => worktree.git_dir)).size, 30);
    assert.equal(made.git('worktree', 'list').trim().split('\n').length, 31);
    assert.equal(made.git('fsck', '--no-dangling').trim(), '');
  });
});
