import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { commitWorkingFiles, whyLeftOut } from '../../../../../lib/tools/git/write/commit-files.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

const place = async (t: TestContext) => {
  const made = makeRepository(t, {
    files: { 'a.txt': 'one\n', 'gone.txt': 'x\n', 'kept.txt': 'k\n', '.gitignore': 'secret\n' },
  });
  const git = testGit(t);
  const worktree = await makeWorktree(t, git, known(made));
  return { made, git, worktree, inside: gitIn(worktree.path) };
};

describe('commitWorkingFiles', () => {
  it('commits what is changed, staged, new and removed, whatever its name, and nothing ignored', async (t) => {
    const { git, worktree, inside } = await place(t);
    writeFiles(worktree.path, {
      'a.txt': 'two\n',
      ' -rf "x"\n.txt': 'odd\n',
      ':(top)y': 'odd\n',
      'deep/new.txt': 'n\n',
      secret: 'token',
    });
    writeFiles(worktree.path, { 'staged.txt': 'then\n' });
    inside('add', 'staged.txt');
    writeFiles(worktree.path, { 'staged.txt': 'now\n' });
    rmSync(join(worktree.path, 'gone.txt'));
    const done = await commitWorkingFiles(git, worktree, {
      message: 'All of it\n\nBody',
      isAll: true,
    });
    assert.deepEqual(done.committed, { commit: inside('rev-parse', 'HEAD').trim(), files: 6 });
    assert.equal(inside('status', '--porcelain'), '');
    assert.equal(inside('show', 'HEAD:staged.txt'), 'now\n');
    assert.equal(inside('log', '-1', '--format=%B').trim(), 'All of it\n\nBody');
    assert.equal(readFileSync(join(worktree.path, 'secret'), 'utf8'), 'token');
    assert.doesNotMatch(inside('ls-files'), /secret/);
    assert.deepEqual(await commitWorkingFiles(git, worktree, { message: 'again', isAll: true }), {
      committed: null,
      left_out: [],
    });
  });

  it('commits what was removed from the index where a directory or an ignored file is now', async (t) => {
    const all = ['.gitignore', 'a.txt/b', 'a.txt/c', 'gone.txt/new', 'x/.env'];
    for (const [isAll, listed, left] of [
      [true, all, ''],
      [false, all.slice(0, -1), 'A  x/.env\n'],
    ] as const) {
      const { git, worktree, inside } = await place(t);
      inside('rm', '-q', 'gone.txt');
      writeFiles(worktree.path, { 'gone.txt/new': 'n\n', 'x/.env': 'T\n' });
      inside('mv', 'a.txt', 'b');
      writeFiles(worktree.path, { 'a.txt/c': 'c\n' });
      inside('mv', 'b', 'a.txt/b');
      inside('rm', '-q', '--cached', 'kept.txt');
      writeFiles(worktree.path, { '.gitignore': 'kept.txt\n' });
      inside('add', 'x/.env');
      const done = await commitWorkingFiles(git, worktree, { message: 'one', isAll });
      assert.equal(done.committed?.files, listed.length + 3);
      assert.equal(inside('ls-tree', '-r', '--name-only', 'HEAD'), `${listed.join('\n')}\n`);
      assert.equal(inside('status', '--porcelain'), left);
      assert.ok(existsSync(join(worktree.path, 'kept.txt')));
    }
  });

  it('writes the message as UTF-8, whatever encoding the repository has for messages', async (t) => {
    const { git, worktree, inside } = await place(t);
    inside('config', 'i18n.commitEncoding', 'ISO-8859-1');
    writeFiles(worktree.path, { 'a.txt': 'two\n' });
    await commitWorkingFiles(git, worktree, { message: 'Grüße', isAll: true });
    const commit = inside('cat-file', 'commit', 'HEAD');
    assert.match(commit, /\n\nGrüße\n$/);
    assert.doesNotMatch(commit, /^encoding/m);
  });

  it('leaves a repository inside of it alone', async (t) => {
    const { git, worktree, inside } = await place(t);
    writeFiles(worktree.path, { 'inner/b.txt': 'b\n' });
    gitIn(join(worktree.path, 'inner'))('init', '--quiet');
    assert.deepEqual(await commitWorkingFiles(git, worktree, { message: 'nothing', isAll: true }), {
      committed: null,
      left_out: [],
    });
    writeFiles(worktree.path, { 'a.txt': 'two\n' });
    assert.equal(
      (await commitWorkingFiles(git, worktree, { message: 'one', isAll: true })).committed?.files,
      1,
    );
    assert.equal(inside('status', '--porcelain'), '?? inner/\n');
  });

  it('counts a file once that was taken out of the index alone', async (t) => {
    const { git, worktree, inside } = await place(t);
    inside('rm', '--quiet', '--cached', 'a.txt');
    writeFiles(worktree.path, { 'a.txt': 'two\n' });
    const seen: string[][] = [];
    const check = (paths: readonly string[]): void => void seen.push([...paths]);
    const done = await commitWorkingFiles(git, worktree, { message: 'one', isAll: true, check });
    assert.deepEqual([done.committed?.files, seen], [1, [['a.txt']]]);
    assert.equal(inside('show', 'HEAD:a.txt'), 'two\n');
  });

  it('commits no staged repository or secret, which stay staged, unless all is wanted', async (t) => {
    const { git, worktree, inside } = await place(t);
    writeFiles(worktree.path, { 'inner/b.txt': 'b\n', 'a.txt': 'two\n', 'x/.env': 'T\n' });
    writeFiles(worktree.path, { 'gone.env.txt': 'b\n' });
    const inner = gitIn(join(worktree.path, 'inner'));
    inner('init', '--quiet');
    inner('add', '.');
    inner('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'b');
    inside('add', '--all');
    rmSync(join(worktree.path, 'gone.env.txt'));
    const done = await commitWorkingFiles(git, worktree, { message: 'one', isAll: false });
    assert.deepEqual(done.left_out, [
      { path: 'inner', why: 'repository' },
      { path: 'x/.env', why: 'secret' },
    ]);
    assert.equal(inside('show', '--format=', '--name-only', 'HEAD'), 'a.txt\n');
    assert.equal(inside('status', '--porcelain'), 'A  inner\nA  x/.env\n');
    const again = await commitWorkingFiles(git, worktree, { message: 'none', isAll: false });
    assert.equal(again.committed, null);
    const all = await commitWorkingFiles(git, worktree, { message: 'all', isAll: true });
    assert.deepEqual([all.committed?.files, inside('status', '--porcelain')], [2, '']);
  });
});

describe('whyLeftOut', () => {
  const why = (path: string) =>
    whyLeftOut(
      { worktree: { path: '/none', git_dir: '/none', common_dir: '/none' }, unfiltered: new Set() },
      { path, code: '??', repository: false },
    );

  it('knows names of secrets with any bytes, and backups of them', () => {
    const secrets = [
      '.env',
      'd\xe9/.env',
      'nl\nx.key',
      '\xe9.pem',
      '.env.a\nb',
      'prod.env',
      '.envrc',
    ];
    secrets.push(
      '.env~',
      '.env.local~',
      'id_rsa~',
      'service-account.json',
      'Service-Account-1.json',
    );
    for (const path of [...secrets, 'a/.ENV', '.env.local', 'my-example-prod.env'])
      assert.equal(why(path), 'secret', JSON.stringify(path));
  });

  it('takes examples and templates for no secret', () => {
    const plain = [
      '.env.example',
      '.env.example~',
      '.env.prod.sample',
      'example.env',
      'a.template.env',
    ];
    plain.push(
      'service-account.example.json',
      'env',
      'my.envx',
      '.environment',
      'env.ts',
      'key\n.ts',
    );
    for (const path of [...plain, 'a.env/b.txt', 'service-accounts.ts', '.npmrc.txt'])
      assert.equal(why(path), undefined, JSON.stringify(path));
  });
});
