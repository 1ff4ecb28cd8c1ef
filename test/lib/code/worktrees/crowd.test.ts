import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../../../store/records/case.ts';
import type { Worktree } from '../../../../store/records/worktree.ts';
import { type AsyncGit, asyncGit } from '../../../helpers/git-workspace.ts';
import { gitIn, makeRepository } from '../../../helpers/repository.ts';
import { startForTest } from '../../../helpers/service.ts';

const HELD_MS = 150;

/** A lock file of another git, that is there for a moment. */
const hold = async (lock: string): Promise<void> => {
  try {
    writeFileSync(lock, '', { flag: 'wx' });
  } catch {
    // A real git holds it.
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, HELD_MS));
  rmSync(lock);
};

// What goes on in the main checkout until told to end: commits, fetches, repacking, and locks that are held.
const operatorAtWork = (git: AsyncGit, git_dir: string): (() => Promise<void>) => {
  let goOn = true;
  const until = async (work: () => Promise<unknown>): Promise<void> => {
    // One that finds a lock fails, as at a terminal.
    while (goOn) await work().catch(() => undefined);
  };
  const who = ['-c', 'user.name=o', '-c', 'user.email=o@example.com'];
  const loops = [
    until(() => git(...who, 'commit', '--quiet', '--allow-empty', '-m', 'more')),
    until(async () => {
      await git('fetch', '--quiet', 'origin');
      await git('gc', '--quiet');
    }),
    until(async () => {
      for (const name of ['index.lock', 'packed-refs.lock', 'config.lock'])
        await hold(join(git_dir, name));
    }),
  ];
  return async () => {
    goOn = false;
    await Promise.all(loops);
  };
};

describe('many at once in one repository', () => {
  it('makes thirty worktrees while git is at work in the main checkout, then others come and go', async (t) => {
    const { call, repository, logged } = await startForTest(t);
    const other = makeRepository(t);
    repository.git('remote', 'add', 'origin', other.root);
    const git_dir = join(repository.root, '.git');
    const ids = await Promise.all(
      Array.from({ length: 36 }, async (_, n) => {
        const wanted = { title: `Item ${n}`, type: 'bug' };
        return (await call<Case>('POST', '/cases', wanted)).body.id;
      }),
    );
    const end = operatorAtWork(asyncGit(repository.root), git_dir);
    const create = async (id: string): Promise<Worktree> => {
      const { status, body, text } = await call<Worktree>('POST', '/api/worktrees', {
        case_id: id,
      });
      assert.equal(status, 201, text);
      return body;
    };
    const remove = async (id: string): Promise<void> => {
      const { status, text } = await call('DELETE', `/api/cases/${id}/worktree?force=true`);
      assert.equal(status, 204, text);
    };
    try {
      await Promise.all(ids.slice(0, 30).map(create));
      await Promise.all([...ids.slice(0, 6).map(remove), ...ids.slice(30).map(create)]);
    } finally {
      await end();
    }
    assert.equal(repository.git('worktree', 'list').trim().split('\n').length, 31);
    for (const id of ids.slice(6)) {
      const { body } = await call('GET', `/api/worktrees/${id}/status`);
      assert.deepEqual([body.status, body.files], ['ok', []]);
      assert.equal(gitIn(String(body.path))('branch', '--show-current').trim(), body.branch);
    }
    assert.equal(repository.git('fsck', '--no-dangling').trim(), '');
    assert.deepEqual(logged, []);
  });

  it('is 409 for a lock that stays, with its name and age, and the lock stays', async (t) => {
    const { call, repository } = await startForTest(t);
    const wanted = { title: 'One', type: 'bug' };
    const { body: item } = await call<Case>('POST', '/cases', wanted);
    const lock = join(repository.root, '.git', 'packed-refs.lock');
    await call('POST', '/api/worktrees', { case_id: item.id });
    repository.git('pack-refs', '--all');
    writeFileSync(lock, '');
    const heads = join(repository.root, '.git', 'refs', 'heads');
    writeFileSync(join(heads, 'held.lock'), '');
    const { body: next } = await call<Case>('POST', '/cases', wanted);
    const busy = await call('POST', '/api/worktrees', { case_id: next.id, branch: 'held' });
    assert.deepEqual([busy.status, busy.body.code], [409, 'worktree_busy'], busy.text);
    assert.match(String(busy.body.detail), /held .*held\.lock for \d+ s/);
    rmSync(join(heads, 'held.lock'));
    rmSync(lock);
    const made = await call('POST', '/api/worktrees', { case_id: next.id, branch: 'held' });
    assert.equal(made.status, 201, made.text);
  });
});
