import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createWorktree, ensureWorktree } from '../../../../lib/code/worktrees/create/create.ts';
import { describeWork, worktreeDiff } from '../../../../lib/code/worktrees/inspect/diff.ts';
import { removeForDeletedCase } from '../../../../lib/code/worktrees/recovery/remove.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import { acquireLock } from '../../../../store/sessions/locks.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { NOBODY } from '../../../helpers/nobody.ts';
import { gitIn, writeFiles } from '../../../helpers/repository.ts';
import { start } from './fixture.ts';

describe('ensureWorktree', () => {
  it('makes one, once, for all who ask at the same moment', async (t) => {
    const { service, item } = await start(t);
    const [one, other] = await Promise.all([1, 2].map(() => ensureWorktree(service, item.id)));
    assert.deepEqual(one, other);
    assert.deepEqual(readWorktree(service.store, item.id), one);
  });

  it('answers the one that an operator made', async (t) => {
    const { service, item } = await start(t);
    const made = await createWorktree(service, item.id, { branch: 'mine' });
    assert.deepEqual(await ensureWorktree(service, item.id), made);
  });

  it('refuses one that is not as it was made', async (t) => {
    const { service, item, workspace } = await start(t);
    const { path } = await ensureWorktree(service, item.id);
    const moved = join(workspace, 'moved');
    renameSync(path, moved);
    await assert.rejects(ensureWorktree(service, item.id), { code: 'worktree_missing' });
    renameSync(moved, path);
    await ensureWorktree(service, item.id);
    writeFileSync(join(path, '.git'), 'gitdir: /elsewhere\n');
    await assert.rejects(ensureWorktree(service, item.id), { code: 'worktree_tampered' });
  });

  it('is not found for a Work item that is not there', async (t) => {
    const { service } = await start(t);
    const id = NOBODY;
    await assert.rejects(ensureWorktree(service, id), { code: 'not_found' });
  });

  it('names worktree and branch safely when the directory was renamed by hand', async (t) => {
    const { service, workspace, item } = await start(t);
    renameSync(join(workspace, item.path), join(workspace, 'cases', '-x ..y'));
    const found = itemOf(service.store, item.id);
    assert.ok(found !== undefined);
    found.dir = 'cases/-x ..y';
    const { branch } = await ensureWorktree(service, item.id);
    assert.equal(branch, `work/fix-the-login-${item.id.slice(0, 8)}`);
  });
});

describe('describeWork', () => {
  it('names the commit of the worktree, not of the main checkout, and not the base', async (t) => {
    const { service, item, repository } = await start(t);
    assert.deepEqual(await describeWork(service, item.id, { diff: true, tree: false }), {});
    const { path, base_commit } = await ensureWorktree(service, item.id);
    const nothing = { head: base_commit, dirty: false, has_work: false, diff_sha256: null };
    assert.deepEqual(await describeWork(service, item.id, { diff: true, tree: false }), nothing);
    repository.git('commit', '--quiet', '--allow-empty', '--message', 'elsewhere');
    assert.deepEqual(await describeWork(service, item.id, { diff: true, tree: false }), nothing);
    gitIn(path)('reset', '--quiet', '--hard', 'main');
    const head = repository.git('rev-parse', 'main').trim();
    const clean = { head, commit: head, dirty: false, has_work: true };
    assert.deepEqual(
      await describeWork(service, item.id, { diff: 'uncommitted', tree: false }),
      clean,
    );
    writeFiles(path, { 'new.txt': 'one\n' });
    const { dirty, diff_sha256 } = await describeWork(service, item.id, {
      diff: 'uncommitted',
      tree: false,
    });
    assert.deepEqual([dirty, typeof diff_sha256], [true, 'string']);
  });

  it('is empty, never an error, for a missing worktree, a broken record, an unknown Work item', async (t) => {
    const { service, item, workspace } = await start(t);
    const { path } = await ensureWorktree(service, item.id);
    rmSync(path, { recursive: true });
    assert.deepEqual(await describeWork(service, item.id, { diff: true, tree: false }), {});
    writeFileSync(join(workspace, '.dossier', 'worktrees', `${item.id}.json`), '{');
    assert.deepEqual(await describeWork(service, item.id, { diff: true, tree: false }), {});
    assert.deepEqual(await describeWork(service, NOBODY, { diff: true, tree: false }), {});
  });
});

describe('worktreeDiff', () => {
  it('holds commits, changes and untracked files against the base', async (t) => {
    const { service, item } = await start(t);
    const record = await ensureWorktree(service, item.id);
    writeFiles(record.path, { 'new.txt': 'one\ntwo\n', 'README.md': '# Changed\n' });
    const { patch, changed, left_out, files, additions, deletions } = await worktreeDiff(
      service.git,
      record,
    );
    assert.deepEqual([files, additions, deletions], [2, 3, 1]);
    assert.deepEqual(left_out, []);
    assert.deepEqual(
      changed.map(({ what, path }) => [what, path]),
      [
        ['changed', 'README.md'],
        ['added', 'new.txt'],
      ],
    );
    assert.match(patch.toString(), /^diff --git a\/README\.md/);
  });
});

describe('removeForDeletedCase', () => {
  it('does nothing without a worktree, but refuses while a session runs', async (t) => {
    const { service, item } = await start(t);
    await removeForDeletedCase(service, item.id, false);
    const acquired_at = new Date().toISOString();
    await acquireLock(service.store, item.id, { kind: 'session', acquired_at });
    await assert.rejects(removeForDeletedCase(service, item.id, true), { code: 'session_active' });
  });

  it('refuses to lose work, and with force keeps it under a ref alone', async (t) => {
    const { service, item, repository, workspace } = await start(t);
    const { path } = await ensureWorktree(service, item.id);
    writeFiles(path, { 'new.txt': 'new' });
    const refused = { code: 'work_would_be_lost' };
    await assert.rejects(removeForDeletedCase(service, item.id, false), refused);
    await removeForDeletedCase(service, item.id, true);
    assert.ok(!existsSync(path));
    assert.equal(readWorktree(service.store, item.id), undefined);
    const [ref = ''] = repository.git('for-each-ref', '--format=%(refname)').trim().split('\n');
    assert.match(ref, /^refs\/dossier\/recovered\//);
    assert.equal(repository.git('show', `${ref}:files/new.txt`), 'new');
    assert.deepEqual(readdirSync(join(workspace, item.path)), ['case.md']);
  });
});
