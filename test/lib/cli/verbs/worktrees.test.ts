import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { layoutOf } from '../../../../store/layout.ts';
import {
  directoryIn,
  newSnapshotDir,
  placeSnapshot,
  sharedSnapshots,
} from '../../../../store/worktrees/shared-snapshots.ts';
import { dossier } from '../../../helpers/command.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import { STATE_DIR } from '../../../helpers/state-dir.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';

const withWorktrees = async (t: TestContext, ...titles: string[]) => {
  const { root, git } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const workspace = temporaryDirectory(t);
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const api = connect({ url });
  const made = [];
  for (const title of titles) {
    const { id } = await api.call('POST /cases', { body: { title, type: 'bug' } });
    made.push(await api.call('POST /api/worktrees', { body: { case_id: id } }));
  }
  const args = (...words: string[]) => ['worktrees', ...words, '--workspace', workspace];
  const said = (...words: string[]) => dossier(t, ...args(...words));
  const run = (...words: string[]) => dossier(t, ...words, '--workspace', workspace);
  return { api, git, made, args, said, run, layout: layoutOf(workspace, STATE_DIR) };
};

describe('dossier worktrees', () => {
  it('lists them with their Work items, and removes one; work in it only with --force, which keeps it', async (t) => {
    const { api, made, said } = await withWorktrees(t, 'One', 'Two');
    const [one, two] = made;
    assert.ok(one !== undefined && two !== undefined);
    const listed = (await said()).stdout.trimEnd().split('\n');
    assert.deepEqual(
      listed.toSorted(),
      [
        [one.case_id.slice(0, 8), 'OPEN', 'One', one.branch, one.path].join('\t'),
        [two.case_id.slice(0, 8), 'OPEN', 'Two', two.branch, two.path].join('\t'),
      ].toSorted(),
    );
    assert.match((await said('rm', 'One')).stdout, /^Removed .* The branch work\/\S+ is kept\.\n$/);
    assert.equal(existsSync(one.path), false);
    assert.match((await said('rm', 'One')).stderr, /no worktree/);
    writeFileSync(join(two.path, 'new.txt'), 'new');
    const refused = await said('rm', 'Two');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /uncommitted files .*dossier worktrees rm [0-9a-f]{8} --force/);
    writeFileSync(join(two.path, 'git~1'), '');
    const unsaved = await said('rm', 'Two', '--force');
    assert.match(unsaved.stderr, /refuses: git~1\. They cannot be saved, even with force/);
    rmSync(join(two.path, 'git~1'));
    const page = new RegExp(`kept\\. Restore saved work: \\S+/worktrees/${two.case_id}\\n$`);
    assert.match((await said('rm', 'Two', '--force')).stdout, page);
    const at = { case_id: two.case_id };
    assert.equal((await api.call('GET /api/worktrees/{case_id}/recoveries', at)).length, 1);
    for (const wrong of [
      ['rm'],
      ['clean', 'One'],
      ['list', '--force'],
      ['rm', 'One', '--dry-run'],
      ['list', '--shared'],
      ['clean', '--shared', '--dry-run'],
      ['tea'],
    ])
      assert.equal((await said(...wrong)).code, 2, wrong.join(' '));
  });

  it('says that one is removed where its saved work cannot be listed', async (t) => {
    const { api, said } = await withWorktrees(t);
    const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    const set = (other: string | null) =>
      api.call('PUT /settings', { body: { projects: { other } } });
    await set(root);
    const body = { title: 'One', type: 'bug', project: 'other' };
    const { id } = await api.call('POST /cases', { body });
    const { path } = await api.call('POST /api/worktrees', { body: { case_id: id } });
    await set(null);
    const { code, stdout, stderr } = await said('rm', 'One');
    assert.deepEqual([code, stderr, existsSync(path)], [0, '', false]);
    assert.match(
      stdout,
      /^Removed .* is kept\. Its saved work cannot be listed: .* Then see http:/,
    );
  });

  it('names one whose directory was deleted by hand as missing', async (t) => {
    const { made, said } = await withWorktrees(t, 'One');
    const [one] = made;
    rmSync(one?.path ?? '', { recursive: true });
    const row = [one?.case_id.slice(0, 8), 'OPEN, missing', 'One', one?.branch, one?.path];
    assert.equal((await said()).stdout, `${row.join('\t')}\n`);
  });

  it('says where work is uncommitted, and so do ls and show, until it is committed', async (t) => {
    const { api, git: base, made, said, run } = await withWorktrees(t, 'Whole', 'Failing');
    const [whole, failing] = made;
    assert.ok(whole !== undefined && failing !== undefined);
    const id = failing.case_id;
    const description = '```sh\necho new > new.txt\nexit 1\n```\n';
    await api.call('PUT /cases/{id}', { id, body: { description } });
    const { id: sid } = await api.call('POST /cases/{id}/sessions', {
      id,
      body: { type: 'implementing' },
    });
    const until = (status: string) =>
      eventually(async () => {
        const session = await api.call('GET /cases/{id}/sessions/{sid}', { id, sid });
        assert.equal(session.status, status, session.error ?? undefined);
      });
    await until('plan_ready');
    await api.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid });
    await until('failed');
    const told = 'BLOCKED, 1 uncommitted file';
    assert.match((await said()).stdout, new RegExp(`${id.slice(0, 8)}\t${told}\tFailing`));
    assert.match((await said()).stdout, /\tOPEN\tWhole\t/);
    assert.match((await run('ls')).stdout, new RegExp(`${told}\tFailing`));
    const { stdout: shown } = await run('show', 'Failing');
    assert.match(shown, /^1 uncommitted file$/m);
    assert.match(shown, new RegExp(`^Next: dossier start ${id.slice(0, 8)} --provider `, 'm'));
    const git = gitIn(failing.path);
    git('add', '--all');
    git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'by hand');
    for (const words of [['worktrees'], ['ls'], ['show', 'Failing']])
      assert.doesNotMatch((await run(...words)).stdout, /uncommitted|new commit/);
    base('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'later', '--allow-empty');
    assert.match((await run('show', 'Failing')).stdout, /^The base has one new commit\.$/m);
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
    mkdirSync(join(failing.path, 'sub'));
    assert.doesNotMatch((await run('show', 'Failing')).stdout, /Not in the diff/);
    writeFileSync(join(failing.path, 'sub', 'new.txt'), 'new');
    const lost = /^Not in the diff: uncommitted files in sub\/\.$/m;
    assert.match((await run('show', 'Failing')).stdout, lost);
  });

  it('shows and deletes what was installed for later worktrees', {
    skip: noTerminal,
  }, async (t) => {
    const { api, args, said, layout } = await withWorktrees(t, 'One');
    await api.call('PUT /api/worktrees/config', { body: { share: ['node_modules'] } });
    const dir = newSnapshotDir(layout) ?? '';
    mkdirSync(directoryIn(dir, 0));
    const snapshot = {
      ...{ project: 'default', repository: layout.root, lockfile: 'package-lock.json' },
      ...{ lockfile_sha256: 'a'.repeat(64), command: 'npm ci', directories: ['node_modules'] },
      ...{ bytes: 2_500_000, created_at: new Date().toISOString() },
    };
    assert.ok(placeSnapshot(layout, dir, { key: 'b'.repeat(64), snapshot }));
    const shown = await atTerminal(t, args('list'));
    assert.match(
      shown.text,
      /Installed for later worktrees: 1 snapshot \(3 MB\)\. Delete them: dossier worktrees clean --shared/,
    );
    assert.doesNotMatch((await said()).stdout, /snapshot/);
    assert.equal(
      (await said('clean', '--shared')).stdout,
      'Deleted 1 snapshot (3 MB). Worktrees keep their copies.\n',
    );
    assert.deepEqual(sharedSnapshots(layout), []);
    assert.equal((await said('clean', '--shared')).stdout, 'There is nothing to delete.\n');
  });

  it('cleans up after closed Work items, on a yes at a terminal', {
    skip: noTerminal,
  }, async (t) => {
    const { api, made, args, said } = await withWorktrees(t, 'Open', 'Closed', 'Dirty');
    const [open, closed, dirty] = made;
    assert.ok(open !== undefined && closed !== undefined && dirty !== undefined);
    writeFileSync(join(dirty.path, 'new.txt'), 'new');
    for (const { case_id: id } of [closed, dirty])
      await api.call('PUT /cases/{id}/state', { id, body: { state: 'NON_ISSUE' } });
    const tried = await said('clean', '--dry-run');
    assert.match(tried.stdout, /\twould be removed\t.*\n[0-9a-f]{8}\tkept\t.*1 uncommitted file/);
    const left = await atTerminal(t, args('clean'), [[/branches are kept\. \[y\/N\]/, 'n\n']]);
    assert.deepEqual([left.code, existsSync(closed.path)], [1, true], left.text);
    const done = await atTerminal(t, args('clean'), [[/branches are kept\. \[y\/N\]/, 'y\n']]);
    assert.equal(done.code, 0, done.text);
    assert.deepEqual(
      [open, closed, dirty].map(({ path }) => existsSync(path)),
      [true, false, true],
    );
    const { removed, skipped } = JSON.parse((await said('clean', '--json')).stdout);
    assert.deepEqual([removed.length, skipped.length], [0, 1]);
  });
});
