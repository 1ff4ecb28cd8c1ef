import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Recovery } from '../../../../store/records/recovery.ts';
import { writeFiles } from '../../../helpers/repository.ts';
import { rebaseScene, type Scene } from '../../work/conflicts/fixture.ts';

const pointer = (digit: string, size: number): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize ${size}\n`;

// A name of its own: where git-lfs is installed, the operator's own settings have the filter `lfs`, and that runs.
const ATTRIBUTES = '*.bin filter=lfs-absent diff=lfs-absent merge=lfs-absent -text\n';

// As `git lfs install --local` leaves it, with no git-lfs there.
const forgetLfs = ({ main }: Scene): void => {
  main('config', 'filter.lfs-absent.clean', 'git-lfs-that-is-not-there clean -- %f');
  main('config', 'filter.lfs-absent.smudge', 'git-lfs-that-is-not-there smudge -- %f');
  main('config', 'filter.lfs-absent.process', 'git-lfs-that-is-not-there filter-process');
  main('config', 'filter.lfs-absent.required', 'true');
};

const pointersIn = (root: string): string[][] =>
  readdirSync(root)
    .filter((name) => name.endsWith('.bin'))
    .toSorted()
    .map((name) => [name, readFileSync(join(root, name), 'utf8')]);

const lfsScene = async (t: TestContext): Promise<Scene> => {
  const scene = await rebaseScene(t, {
    start: {
      '.gitattributes': ATTRIBUTES,
      'big.bin': pointer('1', 1),
      'other.bin': pointer('2', 2),
    },
    base: [{ 'big.bin': pointer('3', 3) }],
    branch: [{ 'big.bin': pointer('4', 4) }],
  });
  forgetLfs(scene);
  return scene;
};

describe('pointers of git-lfs, where that is not installed', () => {
  it('stay byte for byte in a new worktree, its diff, its removal and its restore', async (t) => {
    const scene = await lfsScene(t);
    const { call, repository } = scene.running;
    const { id } = (await call<{ id: string }>('POST', '/cases', { title: 'Second', type: 'bug' }))
      .body;
    const made = await call<{ path: string }>('POST', '/api/worktrees', { case_id: id });
    assert.equal(made.status, 201, made.text);
    const { path } = made.body;
    assert.deepEqual(pointersIn(path), [
      ['big.bin', pointer('3', 3)],
      ['other.bin', pointer('2', 2)],
    ]);
    const health = await call<{ dirty: boolean }>('GET', `/api/worktrees/${id}/health`);
    assert.equal(health.body.dirty, false, health.text);

    writeFiles(path, { 'other.bin': pointer('5', 5), 'new.bin': pointer('6', 6) });
    const before = pointersIn(path);
    const removed = await call('DELETE', `/api/cases/${id}/worktree?force=true`);
    assert.equal(removed.status, 204, removed.text);
    const at = `/api/worktrees/${id}/recoveries`;
    const [kept] = (await call<Recovery[]>('GET', at)).body;
    const restored = await call('POST', `${at}/${kept?.id}/restore`);
    assert.equal(restored.status, 201, restored.text);
    assert.deepEqual(pointersIn(path), before);

    for (const name of ['clean', 'smudge', 'process', 'required'])
      repository.git('config', '--unset', `filter.lfs-absent.${name}`);
    repository.git('apply', join(scene.running.workspace, kept?.patch ?? ''));
    assert.deepEqual(pointersIn(repository.root), before);
  });

  it('stay so through a rebase, its conflict and its abort', async (t) => {
    const scene = await lfsScene(t);
    const { worktree, git } = scene;
    const changes = { 'other.bin': pointer('5', 5), 'new.bin': pointer('6', 6) };
    writeFiles(worktree.path, changes);
    const before = pointersIn(worktree.path);
    const begun = await scene.post('pr/rebase', { keep_changes: true });
    assert.deepEqual(begun.body.files, [{ path: 'big.bin', kind: 'both_modified' }], begun.text);
    const { diff } = (await scene.get('conflicts/preview')).body;
    assert.match(diff, /size 3[\s\S]*size 4/);
    const aborted = await scene.post('conflicts/abort');
    assert.deepEqual(aborted.body.left, [], aborted.text);
    assert.deepEqual(pointersIn(worktree.path), before);

    await scene.post('pr/rebase', { keep_changes: true });
    const head = git('rev-parse', 'HEAD');
    writeFiles(worktree.path, { 'big.bin': 'the content itself' });
    const refused = await scene.post('conflicts/apply');
    assert.deepEqual([refused.status, refused.body.code], [409, 'uncommitted_changes']);
    assert.match(refused.text, /big\.bin cannot be staged by the daemon/);
    assert.equal(git('rev-parse', 'HEAD'), head);
    writeFiles(worktree.path, { 'big.bin': pointer('4', 4) });
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.changes, 'brought_back', done.text);
    assert.deepEqual(pointersIn(worktree.path), [
      ['big.bin', pointer('4', 4)],
      ['new.bin', pointer('6', 6)],
      ['other.bin', pointer('5', 5)],
    ]);
    assert.equal(git('cat-file', 'blob', 'HEAD:big.bin'), pointer('4', 4));
  });
});
