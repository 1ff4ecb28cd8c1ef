import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Recovery } from '../../../../store/records/recovery.ts';
import { openConflict } from '../../../../store/sessions/conflicts.ts';
import { writeFiles } from '../../../helpers/repository.ts';
import type { Answered } from '../../../helpers/service.ts';
import { type Answer, read, rebaseScene, type Scene } from './fixture.ts';

interface KeptScene extends Scene {
  list: () => Promise<Recovery[]>;
  /** `restore` makes a worktree of one, `remove` lets go of it. */
  restore: (id: string) => Promise<Answered<Answer & { branch: string }>>;
  remove: (id: string) => Promise<Answered<Answer>>;
  removeWorktree: () => Promise<void>;
}

const keptScene = async (t: TestContext): Promise<KeptScene> => {
  const scene = await rebaseScene(t, {
    start: { 'a.txt': 'one\n' },
    base: [{ 'a.txt': 'base\n' }],
    branch: [{ 'a.txt': 'branch\n' }],
  });
  const { call } = scene.running;
  const at = `/api/worktrees/${scene.item.id}/recoveries`;
  return {
    ...scene,
    list: async () => (await call<Recovery[]>('GET', at)).body,
    restore: (id) => call('POST', `${at}/${id}/restore`),
    remove: (id) => call('DELETE', `${at}/${id}`),
    removeWorktree: async () => {
      const removed = await call('DELETE', `/api/cases/${scene.item.id}/worktree?force=true`);
      assert.equal(removed.status, 204, removed.text);
    },
  };
};

const kinds = (list: readonly Recovery[]): string[] => list.map(({ kind }) => kind);

describe('what was kept of a rebase', () => {
  it('is listed once the rebase has ended, and makes the worktree again as it was then', async (t) => {
    const scene = await keptScene(t);
    const { git, worktree, list, restore } = scene;
    const original = git('rev-parse', 'HEAD').trim();
    writeFiles(worktree.path, { 'new.txt': 'before\n' });
    await scene.post('pr/rebase');
    assert.deepEqual(await list(), []);
    writeFiles(worktree.path, { 'a.txt': 'half resolved\n' });
    const { undone_ref } = (await scene.post('conflicts/abort')).body;
    const [undone] = await list();
    assert.deepEqual([undone?.kind, undone?.ref, undone?.restorable], ['undone', undone_ref, true]);

    await scene.post('pr/rebase');
    writeFiles(worktree.path, { 'a.txt': 'both\n' });
    await scene.post('conflicts/apply');
    const listed = await list();
    assert.deepEqual(kinds(listed).toSorted(), ['snapshot', 'undone']);
    const snapshot = listed.find(({ kind }) => kind === 'snapshot');
    assert.equal(snapshot?.ref, (await scene.history())[1]?.snapshot_ref);
    assert.equal(snapshot?.head, original);

    assert.equal((await restore(snapshot?.id ?? '')).body.code, 'already_exists');
    await scene.removeWorktree();
    const before = await restore(snapshot?.id ?? '');
    assert.equal(before.status, 201, before.text);
    assert.equal(before.body.branch, `${worktree.branch}-recovered`);
    assert.deepEqual(
      [git('rev-parse', 'HEAD').trim(), read(scene, 'new.txt')],
      [original, 'before\n'],
    );
    assert.equal(read(scene, 'a.txt'), 'branch\n');
    await scene.removeWorktree();
    const middle = await restore(undone?.id ?? '');
    assert.equal(middle.status, 201, middle.text);
    assert.equal(read(scene, 'a.txt'), 'half resolved\n');
    assert.equal((await list()).length, 4);
  });

  it('is let go of one by one, with its patch, and by nothing else', async (t) => {
    const scene = await keptScene(t);
    const { worktree, list, remove, main, running } = scene;
    await scene.post('pr/rebase');
    await scene.post('conflicts/abort');
    writeFiles(worktree.path, { 'new.txt': 'new\n' });
    await scene.removeWorktree();
    const [undone, removed] = await list();
    assert.deepEqual([undone?.kind, removed?.kind], ['undone', 'removed']);
    const patch = join(running.workspace, removed?.patch ?? '');
    assert.ok(existsSync(patch));
    assert.equal((await remove(removed?.id ?? '')).status, 204);
    assert.ok(!existsSync(patch));
    assert.deepEqual(await list(), [undone]);
    const both = await Promise.all([1, 2].map(() => remove(undone?.id ?? '')));
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [204, 404]);
    assert.deepEqual(await list(), []);
    assert.equal(main('for-each-ref', 'refs/dossier'), '');
  });

  it('cannot be let go of while it is needed', async (t) => {
    const scene = await keptScene(t);
    writeFiles(scene.worktree.path, { 'README.md': 'changed\n' });
    await scene.post('pr/rebase', { keep_changes: true });
    const refs = scene.main('for-each-ref', '--format=%(refname)', 'refs/dossier');
    const [, snapshot = ''] = /snapshots\/\w+?-(\S+)/.exec(refs) ?? [];
    const answer = await scene.remove(`snapshot-${snapshot}`);
    assert.deepEqual([answer.status, answer.body.code], [404, 'not_found'], refs);
    const [, aside = ''] = /set-aside\/\w+?-(\S+)/.exec(refs) ?? [];
    assert.equal((await scene.remove(`set_aside-${aside}`)).status, 404, refs);
    assert.equal(scene.main('for-each-ref', '--format=%(refname)', 'refs/dossier'), refs);
    const path = openConflict(scene.running.service.store, scene.item.id)?.path ?? '';
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, '---\n: broken\n---\n');
    const at = `/api/worktrees/${scene.item.id}/recoveries`;
    const list = await scene.running.call<Answer>('GET', at);
    const broken = [list, await scene.remove(`snapshot-${snapshot}`)];
    assert.deepEqual(
      broken.map(({ status, body }) => [status, body.code]),
      Array(2).fill([409, 'unreadable_record']),
    );
    writeFileSync(path, text);
    assert.deepEqual((await scene.post('conflicts/abort')).body.left, []);
  });
});

describe('what else was kept', () => {
  it('is listed with how it is brought back by hand, whoever made it', async (t) => {
    const { list, main, item, restore, remove, removeWorktree } = await keptScene(t);
    const short = item.id.slice(0, 8);
    const made = (name: string): string =>
      main('update-ref', `refs/dossier/${name.replace('/', `/${short}-`)}`, 'main');
    for (const name of ['undone/u/heads/x', 'undone/u/tags/y', 'set-aside/s', 'undone/forged'])
      made(name);
    main('update-ref', 'refs/dossier/undone/00000000-other', 'main');
    const listed = await list();
    assert.deepEqual(listed.map(({ id, restorable }) => [id, restorable]).toSorted(), [
      ['refs-u', false],
      ['set_aside-s', false],
      ['undone-forged', true],
    ]);
    await removeWorktree();
    for (const { id } of listed) {
      const answer = await restore(id);
      assert.deepEqual([answer.status, answer.body.code], [422, 'invalid_state'], answer.text);
      assert.match(answer.body.detail, /git (branch|cherry-pick|restore)/);
    }
    for (const { id } of listed) assert.equal((await remove(id)).status, 204);
    assert.equal(
      main('for-each-ref', '--format=%(refname)', 'refs/dossier/undone', 'refs/dossier/set-aside'),
      'refs/dossier/undone/00000000-other\n',
    );
  });
});
