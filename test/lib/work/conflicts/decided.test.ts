import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Kind } from '../../../../store/records/conflict.ts';
import { writeFiles } from '../../../helpers/repository.ts';
import { commit, rebaseScene, type Scene } from './fixture.ts';

const LONG = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join('');
const BINARY = (byte: number) => Buffer.from([0, 1, 2, byte, 0, 255]);

const KINDS: Record<string, Kind> = {
  'base-gone.txt': 'deleted_in_base',
  'branch-gone.txt': 'deleted_in_branch',
  'data.raw': 'both_modified',
  'image.bin': 'binary',
  link: 'both_added',
  'moved-by-base.txt': 'renamed',
  'moved-by-branch.txt': 'renamed',
  'same.sh': 'mode',
};

// Every kind of which git leaves one side, without a marker.
const unmarked = async (t: TestContext): Promise<Scene> => {
  const scene = await rebaseScene(t, {
    start: {
      '.gitattributes': '*.raw -merge\n',
      'base-gone.txt': 'one\n',
      'branch-gone.txt': 'one\n',
      'data.raw': 'one\n',
      'image.bin': BINARY(1),
      'moved.txt': LONG,
    },
  });
  const { git, main, worktree, running } = scene;
  const { root } = running.repository;
  const side = { 'data.raw': 'base\n', 'image.bin': BINARY(2), 'same.sh': 'echo\n' };
  main('mv', 'moved.txt', 'moved-by-base.txt');
  symlinkSync('base', join(root, 'link'));
  commit(main, root, { ...side, 'base-gone.txt': null, 'branch-gone.txt': 'base\n' });
  git('mv', 'moved.txt', 'moved-by-branch.txt');
  symlinkSync('branch', join(worktree.path, 'link'));
  writeFiles(worktree.path, { 'same.sh': 'echo\n' });
  chmodSync(join(worktree.path, 'same.sh'), 0o755);
  commit(git, worktree.path, {
    'base-gone.txt': 'branch\n',
    'branch-gone.txt': null,
    'data.raw': 'branch\n',
    'image.bin': BINARY(3),
  });
  assert.equal((await scene.post('pr/rebase')).body.status, 'conflicted');
  return scene;
};

/** Asserts that apply is refused for these files alone, and stages nothing. */
const refused = async (scene: Scene, names: string[], body?: object): Promise<string> => {
  const before = scene.git('ls-files', '--stage');
  const answer = await scene.post('conflicts/apply', body);
  assert.deepEqual([answer.status, answer.body.code], [422, 'markers_remain'], answer.text);
  const files = names.toSorted().map((path) => ({ path, kind: KINDS[path], lines: [] }));
  assert.deepEqual(answer.body.files.toSorted(byPath), files);
  assert.equal(scene.git('ls-files', '--stage'), before);
  return answer.body.detail;
};

const byPath = (one: { path: string }, other: { path: string }): number =>
  one.path < other.path ? -1 : 1;

describe('a conflict without markers', () => {
  it('of any kind is not applied as git left it until somebody decides', async (t) => {
    const scene = await unmarked(t);
    const { git, worktree } = scene;
    const at = (name: string): string => join(worktree.path, name);
    const open = Object.keys(KINDS);
    const decided = (name: string): void => void open.splice(open.indexOf(name), 1);
    assert.match(
      await refused(scene, open),
      /image\.bin \(binary\)[\s\S]*git add[\s\S]*"resolved"/,
    );

    writeFiles(worktree.path, { 'image.bin': BINARY(4) });
    decided('image.bin');
    rmSync(at('base-gone.txt'));
    decided('base-gone.txt');
    await refused(scene, open);
    git('rm', '--quiet', 'branch-gone.txt');
    decided('branch-gone.txt');
    rmSync(at('moved-by-base.txt'));
    decided('moved-by-base.txt');
    chmodSync(at('same.sh'), lstatSync(at('same.sh')).mode ^ 0o111);
    decided('same.sh');
    await refused(scene, open);
    rmSync(at('link'));
    symlinkSync('branch', at('link'));
    git('add', 'link');
    decided('link');
    assert.deepEqual(open, ['data.raw', 'moved-by-branch.txt']);
    await refused(scene, ['data.raw'], { resolved: ['moved-by-branch.txt'] });

    const unknown = await scene.post('conflicts/apply', { resolved: [...open, 'no.txt'] });
    assert.deepEqual([unknown.status, unknown.body.code], [400, 'bad_request'], unknown.text);
    const done = await scene.post('conflicts/apply', { resolved: [...open, 'link'] });
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('show', 'HEAD:data.raw'), 'base\n');
    assert.equal(readlinkSync(at('link')), 'branch');
    assert.match(
      (await scene.history())[0]?.log ?? '',
      /resolved as git left it: data\.raw, moved-/,
    );
  });

  it('is asked about, too, where somebody else went on to it with git', async (t) => {
    const scene = await rebaseScene(t, {
      start: { 'a.txt': 'one\n', 'image.bin': BINARY(1) },
      base: [{ 'a.txt': 'base\n', 'image.bin': BINARY(2) }],
      branch: [{ 'a.txt': 'branch\n' }, { 'image.bin': BINARY(3) }],
    });
    const { git, worktree } = scene;
    await scene.post('pr/rebase');
    const marked = await scene.post('conflicts/apply', { resolved: ['a.txt'] });
    assert.deepEqual([marked.status, marked.body.code], [422, 'markers_remain'], marked.text);
    writeFiles(worktree.path, { 'a.txt': 'both\n' });
    git('add', 'a.txt');
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@b', '-c', 'core.editor=true'];
    assert.throws(() => git(...who, 'rebase', '--continue'));
    await refused(scene, ['image.bin']);
    const done = await scene.post('conflicts/apply', { resolved: ['image.bin'] });
    assert.equal(done.body.status, 'clean', done.text);
  });
});
