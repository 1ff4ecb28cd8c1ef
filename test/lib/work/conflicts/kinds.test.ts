import assert from 'node:assert/strict';
import { chmodSync, existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gitIn, makeRepository, writeFiles } from '../../../helpers/repository.ts';
import { commit, read, rebaseScene, recordOf } from './fixture.ts';

const LONG = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join('');
const BINARY = (byte: number) => Buffer.from([0, 1, 2, byte, 0, 255]);

describe('files in conflict', () => {
  it('that need a filter of the repository are refused until they have what git stores', async (t) => {
    const scene = await rebaseScene(t, {
      start: { '.gitattributes': '*.dat filter=upper\n', 'a.dat': 'ONE\n' },
    });
    const { git, main, worktree, running } = scene;
    main('config', 'filter.upper.clean', 'tr a-z A-Z');
    commit(main, running.repository.root, { 'a.dat': 'BASE\n' });
    commit(git, worktree.path, { 'a.dat': 'BRANCH\n' });
    assert.equal((await scene.post('pr/rebase')).body.status, 'conflicted');
    writeFiles(worktree.path, { 'a.dat': 'both\n' });
    for (const modified_at of [1, 2]) {
      if (modified_at === 2) git('add', 'a.dat');
      // git compares the content of a file whose time differs from the index.
      utimesSync(join(worktree.path, 'a.dat'), modified_at, modified_at);
      const { status, body } = await scene.post('conflicts/apply', {});
      assert.deepEqual([status, body.code], [409, 'uncommitted_changes']);
      assert.match(
        body.detail,
        /^a\.dat cannot be staged by the daemon, .* git cat-file blob :FILE > FILE/,
      );
    }
    writeFiles(worktree.path, { 'a.dat': git('cat-file', 'blob', ':a.dat') });
    assert.equal((await scene.post('conflicts/apply', {})).body.status, 'clean');
    assert.equal(git('show', 'HEAD:a.dat'), 'BOTH\n');
  });

  it('of every kind are told, shown, and applied as they are then', async (t) => {
    const scene = await rebaseScene(t, {
      start: {
        'both.txt': 'one\n',
        'base-gone.txt': 'one\n',
        'branch-gone.txt': 'one\n',
        'moved.txt': LONG,
        'image.bin': BINARY(1),
        '-- odd\n"name" ü.txt': 'one\n',
        'git.md': 'How a conflict looks\n=======\n<<<<<<< ours\n',
      },
    });
    const { git, main, worktree, running } = scene;
    const root = running.repository.root;
    main('mv', 'moved.txt', 'moved-by-base.txt');
    commit(main, root, {
      'both.txt': 'base\n',
      'base-gone.txt': null,
      'branch-gone.txt': 'base\n',
      'image.bin': BINARY(2),
      'added.txt': 'base\n',
      'same.sh': 'echo\n',
      '-- odd\n"name" ü.txt': 'base\n',
      'git.md': 'How it looks\n=======\n<<<<<<< ours\n',
    });
    git('mv', 'moved.txt', 'moved-by-branch.txt');
    writeFiles(worktree.path, { 'same.sh': 'echo\n' });
    chmodSync(join(worktree.path, 'same.sh'), 0o755);
    commit(git, worktree.path, {
      'both.txt': 'branch\n',
      'base-gone.txt': 'branch\n',
      'branch-gone.txt': null,
      'image.bin': BINARY(3),
      'added.txt': 'branch\n',
      '-- odd\n"name" ü.txt': 'branch\n',
      'git.md': 'How one looks\n=======\n<<<<<<< ours\n',
    });
    const { body, text } = await scene.post('pr/rebase');
    const files = [
      { path: '-- odd\n"name" ü.txt', kind: 'both_modified' },
      { path: 'added.txt', kind: 'both_added' },
      { path: 'base-gone.txt', kind: 'deleted_in_base' },
      { path: 'both.txt', kind: 'both_modified' },
      { path: 'branch-gone.txt', kind: 'deleted_in_branch' },
      { path: 'git.md', kind: 'both_modified' },
      { path: 'image.bin', kind: 'binary' },
      { path: 'moved-by-base.txt', kind: 'renamed' },
      { path: 'moved-by-branch.txt', kind: 'renamed' },
      { path: 'moved.txt', kind: 'renamed' },
      { path: 'same.sh', kind: 'mode' },
    ];
    assert.deepEqual(body.files, files, text);
    const { body: preview } = await scene.get('conflicts/preview');
    assert.deepEqual(preview.files, files);
    assert.match(
      preview.diff,
      /base-gone\.txt: deleted in the base, changed in the branch\n[\s\S]*-one\n\+branch\n/,
    );
    assert.match(
      preview.diff,
      /branch-gone\.txt: deleted in the branch, changed in the base\n[\s\S]*-one\n\+base\n/,
    );
    assert.match(preview.diff, /Binary files differ/);
    const left = await scene.post('conflicts/apply');
    assert.deepEqual(
      left.body.files.flatMap(({ path, lines }) => (lines?.length === 0 ? [] : [path])),
      ['-- odd\n"name" ü.txt', 'added.txt', 'both.txt', 'git.md'],
      left.text,
    );
    writeFiles(worktree.path, {
      '-- odd\n"name" ü.txt': 'both\n',
      'added.txt': 'both\n',
      'both.txt': 'both\n',
      'git.md': 'How both look\n=======\n<<<<<<< ours\n',
      'image.bin': BINARY(4),
    });
    for (const name of ['base-gone.txt', 'moved-by-base.txt']) rmSync(join(worktree.path, name));
    chmodSync(join(worktree.path, 'same.sh'), 0o755);
    const resolved = ['branch-gone.txt', 'moved-by-branch.txt', 'same.sh'];
    const done = await scene.post('conflicts/apply', { resolved });
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(git('status', '--porcelain'), '');
    const tree = git('ls-tree', '-r', '-z', 'HEAD').split('\0').filter(Boolean);
    const has = (name: string) => tree.find((line) => line.endsWith(`\t${name}`))?.slice(0, 6);
    assert.deepEqual(
      ['base-gone.txt', 'branch-gone.txt', 'moved-by-base.txt', 'moved.txt'].map(has),
      [undefined, '100644', undefined, undefined],
    );
    assert.deepEqual([has('moved-by-branch.txt'), has('same.sh')], ['100644', '100755']);
    assert.equal(read(scene, '-- odd\n"name" ü.txt'), 'both\n');
  });

  it('are told of a submodule, and its commit is chosen with git', async (t) => {
    const inner = makeRepository(t);
    const one = inner.git('rev-parse', 'HEAD').trim();
    const two = commit(inner.git, inner.root, { 'two.txt': 'two\n' });
    const three = commit(inner.git, inner.root, { 'three.txt': 'three\n' });
    const scene = await rebaseScene(t, { start: { 'a.txt': 'one\n' } });
    const { git, main, worktree, running } = scene;
    const point = (at: typeof git, root: string, oid: string): void => {
      at('update-index', '--add', '--cacheinfo', `160000,${oid},sub`);
      gitIn(root)('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', `sub ${oid}`);
    };
    point(main, running.repository.root, one);
    git('merge', '--quiet', 'main');
    point(main, running.repository.root, two);
    point(git, worktree.path, three);
    const { body, text } = await scene.post('pr/rebase');
    assert.deepEqual(body.files, [{ path: 'sub', kind: 'submodule' }], text);
    const early = await scene.post('conflicts/apply');
    assert.deepEqual([early.status, early.body.code], [422, 'markers_remain'], early.text);
    assert.match(early.body.detail, /update-index --cacheinfo 160000/);
    git('update-index', '--cacheinfo', `160000,${three},sub`);
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(git('rev-parse', 'HEAD:sub').trim(), three);
    assert.ok(!existsSync(join(worktree.path, 'sub', '.git')));
  });
});

describe('a rebase of merge commits', () => {
  it('names the files that only they changed, and no other', async (t) => {
    const scene = await rebaseScene(t, { start: { 'a.txt': 'one\n' }, branch: [{ m: 'mine\n' }] });
    const { git, main, worktree, running } = scene;
    const identity = ['-c', 'user.name=A', '-c', 'user.email=a@b'];
    for (const name of ['other', 'third', 'fourth', 'fifth']) {
      main('switch', '--quiet', '--create', name, 'main');
      commit(main, running.repository.root, { [name]: `${name}\n` });
    }
    main('switch', '--quiet', 'main');
    const merge = (...names: string[]): string =>
      git(...identity, 'merge', '--quiet', '--no-commit', '--no-ff', ...names);
    merge('other');
    git(...identity, 'commit', '--quiet', '-m', 'plain');
    const plain = await scene.post('pr/rebase', { onto: 'other' });
    assert.deepEqual([plain.body.status, plain.body.notes], ['clean', undefined], plain.text);
    merge('third');
    commit(git, worktree.path, { 'fix.txt': 'only here\n' });
    merge('fourth', 'fifth');
    const head = commit(git, worktree.path, { 'fix2.txt': 'only here\n' });
    assert.equal(git('rev-list', '--min-parents=3', 'main..').trim(), head);
    main(...identity, 'merge', '--quiet', 'other');
    const { body, text } = await scene.post('pr/rebase', { onto: 'main' });
    assert.equal(body.status, 'clean', text);
    assert.deepEqual(body.notes, [
      `merge commits of the branch changed fix.txt, fix2.txt themselves; a rebase leaves merge commits out, so compare with git diff ${head.slice(0, 12)} afterwards`,
    ]);
    assert.match(recordOf(scene), /changed fix\.txt, fix2\.txt themselves/);
    assert.equal(git('show', `${head}:fix.txt`), 'only here\n');
  });
});

describe('files in conflict whose names are not UTF-8', () => {
  it('are named as git quotes them, and told apart', async (t) => {
    const scene = await rebaseScene(t, { start: { 'a.txt': 'one\n' } });
    const { main, git, worktree, running } = scene;
    const names = [0o376, 0o377].map((byte) => Buffer.from([0x78, byte]));
    const put = (root: string, text: string): void => {
      for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), text);
    };
    put(running.repository.root, 'base\n');
    commit(main, running.repository.root, {});
    put(worktree.path, 'branch\n');
    commit(git, worktree.path, {});
    const { body, text } = await scene.post('pr/rebase');
    const files = ['"x\\376"', '"x\\377"'].map((path) => ({ path, kind: 'both_added' }));
    assert.deepEqual(body.files, files, text);
    const early = await scene.post('conflicts/apply');
    assert.deepEqual(
      early.body.files,
      files.map((file) => ({ ...file, lines: [1, 3, 5] })),
    );
    put(worktree.path, 'both\n');
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
  });
});

describe('a rebase onto another branch', () => {
  it("takes the Work item's own commits along, and not those of its former base", async (t) => {
    const scene = await rebaseScene(t, {
      start: { 'a.txt': 'one\n' },
      branch: [{ 'mine.txt': 'mine\n' }],
    });
    const { git, main } = scene;
    main('branch', 'release', 'main~1');
    const { body, text } = await scene.post('pr/rebase', { onto: 'release' });
    assert.equal(body.status, 'clean', text);
    assert.equal(git('log', '--format=%s', 'release..'), 'change mine.txt\n');
    const status = `/api/worktrees/${scene.item.id}/status`;
    const { body: now } = await scene.running.call<{ base: string }>('GET', status);
    assert.equal(now.base, 'release');
  });
});
