import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Case } from '../../store/records/case.ts';
import { eventually } from '../helpers/eventually.ts';
import { type FinishedItem, finished } from '../helpers/finished.ts';
import { type Running, startForTest } from '../helpers/service.ts';
import { commit } from '../lib/work/conflicts/fixture.ts';

const start = async (t: TestContext): Promise<Running> => {
  const running = await startForTest(t);
  const { git, root } = running.repository;
  commit(git, root, { 'a.txt': 'one\n', 'b.txt': '1\n2\n3\n4\n5\n', 'c.txt': 'one\n' });
  return running;
};

const overlaps = async ({ call }: Running): Promise<AttentionItem[]> =>
  (await call<AttentionItem[]>('GET', '/attention')).body.filter(({ kind }) => kind === 'overlap');

const until = (running: Running, count: number): Promise<AttentionItem[]> =>
  eventually(async () => {
    const found = await overlaps(running);
    assert.equal(found.length, count, JSON.stringify(found));
    return found;
  });

/** Moves the Work item away and back, as any change of it, so that the branches are compared again. */
const touch = async ({ call }: Running, { item }: FinishedItem): Promise<void> => {
  for (const state of ['OPEN', 'VERIFYING'])
    await call('PUT', `/cases/${item.id}/state`, { state });
};

describe('an overlap in GET /attention', () => {
  it('is one row for two finished branches that conflict, and leaves with a merge', async (t) => {
    const running = await start(t);
    const { git, root } = running.repository;
    const one = await finished(running, 'One', { 'a.txt': 'mine\n', 'b.txt': 'x\n2\n3\n4\n5\n' });
    const other = await finished(running, 'Other', { 'a.txt': 'yours\n' });
    await finished(running, 'Same file, no conflict', { 'b.txt': '1\n2\n3\n4\ny\n' });
    await finished(running, 'Nothing committed');
    const objects = git('count-objects', '-v');
    const [row] = await until(running, 1);
    assert.deepEqual(
      [row?.case_id, row?.other_case_id, row?.title],
      [other.item.id, one.item.id, 'Other'],
    );
    assert.match(row?.message ?? '', /^Conflicts with the branch of "One" in a\.txt\. Merge one/);
    assert.equal(git('count-objects', '-v'), objects, 'nothing is written to the repository');
    git('-C', root, 'merge', '--quiet', '--squash', one.worktree.branch);
    git('-C', root, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'squashed');
    await touch(running, one);
    const [based] = await eventually(async () => {
      const rows = await overlaps(running);
      assert.equal(rows[0]?.other_case_id, undefined);
      return rows;
    });
    assert.match(based?.message ?? '', /conflicts with main, which has new commits, in a\.txt\./);
  });

  it('is dismissed until one of the branches has another commit', async (t) => {
    const running = await start(t);
    const { call } = running;
    const one = await finished(running, 'One', { 'a.txt': 'mine\n' });
    const other = await finished(running, 'Other', { 'a.txt': 'yours\n' });
    const [row] = await until(running, 1);
    const wrong = ['a', 'b'].map((digit) => digit.repeat(40));
    const path = `/cases/${other.item.id}/overlaps/dismiss`;
    const refused = await call<{ code: string }>('POST', path, { commits: wrong });
    assert.deepEqual([refused.status, refused.body.code], [422, 'invalid_state'], refused.text);
    const short = await call('POST', path, { commits: wrong.slice(1) });
    assert.equal(short.status, 400);
    const { method = 'GET', path: at = '', body } = row?.answer ?? {};
    for (const _twice of [1, 2]) {
      const dismissed = await call(method, at, body);
      assert.equal(dismissed.status, 204, dismissed.text);
    }
    await until(running, 0);
    await running.restart();
    await touch(running, one);
    other.commit({ 'c.txt': 'more\n' });
    await touch(running, other);
    await until(running, 1);
    await call('PUT', `/cases/${one.item.id}/state`, { state: 'OPEN' });
    await until(running, 0);
  });
});

describe('a Work item whose branch is merged', () => {
  const mergedOf = async ({ call }: Running, { item }: FinishedItem) =>
    (await call<Case>('GET', `/cases/${item.id}`)).body.merged;

  it('says so, and no more once its branch has another commit', async (t) => {
    const running = await start(t);
    const { git, root } = running.repository;
    const one = await finished(running, 'One', { 'a.txt': 'mine\n' });
    const other = await finished(running, 'Other', { 'c.txt': 'mine\n' });
    git('-C', root, 'merge', '--quiet', '--squash', one.worktree.branch);
    git('-C', root, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'squashed');
    await touch(running, one);
    const commit = git('-C', root, 'rev-parse', one.worktree.branch).trim();
    await eventually(async () => {
      const { at: _, ...merged } = (await mergedOf(running, one)) ?? { at: '' };
      assert.deepEqual(merged, { into: 'main', commit });
    });
    assert.equal(await mergedOf(running, other), undefined);
    one.commit({ 'a.txt': 'more\n' });
    await touch(running, one);
    await eventually(async () => assert.equal(await mergedOf(running, one), undefined));
  });

  it('says so after its worktree and branch are removed, and keeps a key of the operator', async (t) => {
    const running = await start(t);
    const { git, root } = running.repository;
    const items = [
      await finished(running, 'One', { 'a.txt': 'mine\n' }),
      await finished(running, 'Other', { 'c.txt': 'mine\n' }),
    ] as const;
    const file = join(running.workspace, items[1].item.path, 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('---\n', '---\nmerged: by Ada\n'));
    for (const { worktree, item } of items) {
      git('-C', root, 'merge', '--quiet', '--no-edit', worktree.branch);
      const removed = await running.call('DELETE', `/api/cases/${item.id}/worktree`);
      assert.equal(removed.status, 204, removed.text);
      git('-C', root, 'branch', '-d', worktree.branch);
    }
    assert.equal((await mergedOf(running, items[0]))?.into, 'main');
    assert.equal(await mergedOf(running, items[1]), undefined);
    assert.match(readFileSync(file, 'utf8'), /^merged: by Ada$/m);
  });

  it('does not say so where its work was thrown away, or its branch only moved to its base', async (t) => {
    const running = await start(t);
    const { git, root } = running.repository;
    const one = await finished(running, 'One', { 'a.txt': 'mine\n' });
    const other = await finished(running, 'Other');
    commit(git, root, { 'b.txt': 'theirs\n' });
    git('-C', one.worktree.path, 'reset', '--quiet', '--hard', 'main');
    git('-C', other.worktree.path, 'rebase', '--quiet', 'main');
    const third = await finished(running, 'Third', { 'c.txt': 'mine\n' });
    git('-C', root, 'merge', '--quiet', '--no-edit', third.worktree.branch);
    await touch(running, third);
    await eventually(async () => assert.equal((await mergedOf(running, third))?.into, 'main'));
    for (const item of [one, other]) assert.equal(await mergedOf(running, item), undefined);
  });

  it('has its worktree removed without force after a squash', async (t) => {
    const running = await start(t);
    const { git, root } = running.repository;
    const { worktree, item } = await finished(running, 'One', { 'a.txt': 'mine\n' });
    git('-C', root, 'merge', '--quiet', '--squash', worktree.branch);
    git('-C', root, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'squashed');
    const removed = await running.call('DELETE', `/api/cases/${item.id}/worktree`);
    assert.equal(removed.status, 204, removed.text);
  });

  it('has its worktree removed where its case.md cannot be read, and so is not changed', async (t) => {
    const running = await start(t);
    const { git, root } = running.repository;
    const { worktree, item } = await finished(running, 'One', { 'a.txt': 'mine\n' });
    git('-C', root, 'merge', '--quiet', '--no-edit', worktree.branch);
    writeFileSync(join(running.workspace, item.path, 'case.md'), 'broken');
    const removed = await running.call('DELETE', `/api/cases/${item.id}/worktree`);
    assert.equal(removed.status, 204, removed.text);
  });
});
