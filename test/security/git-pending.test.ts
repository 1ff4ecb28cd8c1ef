/** A turn whose repository could not be taken in at its end, and calls that need what is in it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { getWorktree } from '../../lib/code/worktrees/read.ts';
import type { TurnNotice } from '../../lib/code/worktrees/turn/notices.ts';
import { openTurn } from '../../lib/code/worktrees/turn/open.ts';
import { turnPlaces } from '../../store/worktrees/turn-records.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitScene, type Scene } from '../helpers/git-scene.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { gitIn, makeRepository, writeFiles } from '../helpers/repository.ts';
import type { Problem } from '../helpers/sessions.ts';

interface Pending extends Scene {
  lock: string;
  call: (method: string, path: string) => Promise<{ status: number; body: Problem }>;
}

// git says that another one is at work in the worktree.
const pending = async (t: TestContext): Promise<Pending> => {
  const on = await gitScene(t, 'off');
  const { running, item } = on.test;
  const record = getWorktree(running.service.store, item.id);
  const turn = await openTurn(running.service, record, { marker: NOBODY, session_id: NOBODY });
  writeFiles(on.path, { 'b.txt': 'b\n' });
  on.git('add', 'b.txt');
  on.git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'mine');
  writeFiles(on.path, { 'c.txt': 'c\n' });
  on.git('add', 'c.txt');
  const lock = join(record.git_dir, 'index.lock');
  writeFileSync(lock, '');
  const all: TurnNotice[] = [];
  await turn.close((told) => all.push(...told));
  assert.deepEqual(
    all.map(({ code }) => code),
    ['repository_kept'],
  );
  const call: Pending['call'] = (method, path) => running.call<Problem>(method, path);
  return { ...on, lock, call };
};

describe('a turn that could not be taken in', () => {
  it('holds up rebase, push, removal and the next turn, and is taken in before the first that goes on', async (t) => {
    const on = await pending(t);
    const { running, item } = on.test;
    const { layout } = running.service.store;
    const before = readdirSync(layout.repositories).toSorted();
    const refused = [
      await on.call('POST', `/api/cases/${item.id}/pr/rebase`),
      await on.call('DELETE', `/api/cases/${item.id}/worktree`),
      await on.call('DELETE', `/api/cases/${item.id}/worktree?force=true`),
    ];
    for (const { status, body } of refused) {
      assert.deepEqual([status, body.code], [409, 'worktree_busy'], JSON.stringify(body));
      assert.match(body.detail, /kept at .*repositories/);
    }
    const record = getWorktree(running.service.store, item.id);
    await assert.rejects(
      openTurn(running.service, record, { marker: item.id, session_id: NOBODY }),
      /kept at/,
    );
    assert.deepEqual(readdirSync(layout.repositories).toSorted(), before);
    rmSync(on.lock);
    const { body } = await on.call('DELETE', `/api/cases/${item.id}/worktree`);
    assert.equal(body.code, 'work_would_be_lost');
    assert.equal(on.git('log', '-1', '--format=%s').trim(), 'mine');
    assert.equal(on.git('status', '--short'), 'A  c.txt\n');
    assert.deepEqual(readdirSync(layout.repositories), []);
  });

  it('leaves no pin where its worktree is gone, and is kept whole', async (t) => {
    const on = await pending(t);
    const { running, item } = on.test;
    const { layout } = running.service.store;
    assert.match(on.main('for-each-ref', 'refs/dossier/pins'), /pins/);
    renameSync(on.path, `${on.path}-moved`);
    await running.restart();
    assert.equal(on.main('for-each-ref', 'refs/dossier/pins'), '');
    const [kept = '', ...more] = readdirSync(layout.repositories);
    assert.deepEqual(more, []);
    const git = gitIn(on.test.running.repository.root);
    const dir = join(layout.repositories, kept, 'git');
    assert.equal(
      git(`--git-dir=${dir}`, 'log', '-1', '--format=%s', branchOf(git, dir)).trim(),
      'mine',
    );
    assert.equal(existsSync(turnPlaces(layout, item.id).home), false);
  });

  it('arms no git that looks at what is kept', async (t) => {
    const on = await gitScene(t, 'off');
    await on.work(ARM, 'failed');
    const { layout } = on.test.running.service.store;
    const [kept = ''] = readdirSync(layout.repositories);
    const git = gitIn(join(layout.repositories, kept, 'git'));
    assert.match(git('rev-parse', '--git-common-dir'), /^\.$/m);
    assert.match(git('symbolic-ref', 'HEAD'), /^refs\/heads\/work\//);
    assert.equal(git('config', '--default', 'none', 'core.pager'), 'none\n');
    assert.equal(git('config', '--default', 'none', 'core.fsmonitor'), 'none\n');
  });

  it('that never began leaves nothing', async (t) => {
    const on = await gitScene(t, 'off');
    const { running } = on.test;
    const { repositories } = running.service.store.layout;
    writeFiles(repositories, { [`${NOBODY}.refs`]: '' });
    await running.restart();
    assert.deepEqual(readdirSync(repositories), []);
  });
});

// A commit that is not whole, so that all is kept, and settings that a git finds who looks at it.
const ARM = `
echo b > b.txt; git add b.txt; git commit -qm mine
id=$(git rev-parse HEAD); dir=$(git rev-parse --absolute-git-dir)
rm -f $dir/objects/$(echo $id | cut -c 1-2)/$(echo $id | cut -c 3-)
mkdir -p $dir/other/objects $dir/other/refs
cp $dir/HEAD $dir/other/HEAD
printf '[core]\n\tpager = evil\n' > $dir/other/config
printf '[core]\n\tfsmonitor = evil\n' >> $dir/config
echo other > $dir/commondir
exit 0`;

const branchOf = (git: Scene['git'], dir: string): string =>
  git(`--git-dir=${dir}`, 'symbolic-ref', 'HEAD').trim();

describe('while a turn without a sandbox goes on', () => {
  it('nobody rebases, pushes or removes what it has not given back yet, not even where the lock was deleted', async (t) => {
    const on = await gitScene(t, 'off');
    const { running, item } = on.test;
    const go = join(on.path, 'go');
    const ended = on.work(
      'git commit -q --allow-empty -m mine; while [ ! -e go ]; do sleep 0.05; done; rm go',
    );
    await eventually(() => assert.equal(on.git('log', '-1', '--format=%s').trim(), 'mine'));
    // A push takes the way of a rebase.
    const codes = async (): Promise<string[]> => [
      (await running.call<Problem>('POST', `/api/cases/${item.id}/pr/rebase`)).body.code,
      (await running.call<Problem>('DELETE', `/api/cases/${item.id}/worktree?force=true`)).body
        .code,
    ];
    assert.deepEqual(await codes(), ['session_active', 'session_active']);
    rmSync(join(running.workspace, item.path, 'sessions/lock.md'));
    assert.deepEqual(await codes(), ['session_active', 'session_active']);
    writeFileSync(go, '');
    await ended;
    assert.equal(on.git('log', '-1', '--format=%s').trim(), 'mine');
  });
});

describe('a turn in an attached clone without a sandbox', () => {
  it('is told to be held by nothing', async (t) => {
    const on = await gitScene(t, 'off');
    const clone = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    clone.git('switch', '-q', '-c', 'work');
    const { running, item } = on.test;
    await running.call('DELETE', `/api/cases/${item.id}/worktree`);
    const path = clone.root;
    const attached = await running.call('POST', `/api/worktrees/${item.id}/attach`, { path });
    assert.equal(attached.status, 201, attached.text);
    await on.work('git commit -q --allow-empty -m mine');
    assert.equal(clone.git('log', '-1', '--format=%s').trim(), 'mine');
    const [told, ...more] = await on.told();
    assert.deepEqual([told?.code, more], ['git_noted', []]);
    assert.match(on.summary(), /runs without a sandbox directly in your repository/);
  });
});
