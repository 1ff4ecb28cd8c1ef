import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { writeFiles } from '../helpers/repository.ts';
import { withCase } from '../helpers/sessions.ts';
import { codes, create, start } from '../lib/code/worktrees/fixture.ts';

interface Base {
  base: string;
  base_commit: string;
  subject: string;
  new_in_base?: number | null;
  notes: string[];
  exists: boolean;
}

describe('GET /api/worktrees/{case_id}/base', () => {
  it('says what a worktree would begin from, and what it began from once it is there', async (t) => {
    const fixture = await start(t);
    const { repository, send, item } = fixture;
    repository.git('switch', '--quiet', '--create', 'feature/x');
    repository.git('commit', '--quiet', '--allow-empty', '-m', 'On x');
    writeFiles(repository.root, { 'README.md': 'changed\n', 'new.txt': 'new\n' });
    const read = async (query = ''): Promise<Base> => {
      const { status, body } = await send('GET', `/api/worktrees/${item.id}/base${query}`);
      assert.equal(status, 200);
      return body as unknown as Base;
    };
    const left = '2 uncommitted files are not included.';
    const notes = ['For feature/x: `--base current`.', left];
    const before = await read();
    assert.deepEqual([before.base, before.notes, before.exists], ['main', notes, false]);
    const current = await read('?base=current');
    assert.deepEqual([current.base, current.subject, current.notes], ['feature/x', 'On x', [left]]);
    const worktree = await create(fixture);
    assert.equal(worktree.base, 'main');
    assert.equal(worktree.base_commit, repository.git('rev-parse', 'main').trim());
    repository.git('reset', '--quiet', '--hard', 'main');
    rmSync(join(repository.root, 'new.txt'));
    assert.deepEqual(await read(), { ...before, new_in_base: 0, exists: true });
    repository.git('switch', '--quiet', 'main');
    repository.git('commit', '--quiet', '--allow-empty', '-m', 'On main');
    assert.equal((await read()).new_in_base, 1);
    rmSync(worktree.path, { recursive: true });
    assert.deepEqual(await read(), { ...before, new_in_base: null, exists: true });
  });

  it('refuses a base that is not there, a Work item that is not, and what cannot be read', async (t) => {
    const fixture = await start(t);
    const { send, item, workspace } = fixture;
    const at = `/api/worktrees/${item.id}/base`;
    const answers = [
      await send('GET', `${at}?base=absent`),
      await send('GET', '/api/worktrees/00000000-0000-4000-8000-000000000000/base'),
    ];
    assert.deepEqual(codes(...answers), [
      [422, 'invalid_state'],
      [404, 'not_found'],
    ]);
    await create(fixture);
    writeFileSync(join(workspace, '.dossier', 'worktrees', `${item.id}.json`), '{');
    assert.deepEqual(codes(await send('GET', at)), [[409, 'unreadable_record']]);
    const none = await start(t, { repo: null });
    const answer = await none.send('GET', `/api/worktrees/${none.item.id}/base`);
    assert.deepEqual(codes(answer), [[422, 'no_repository']]);
  });
});

describe('base of POST /cases/{id}/sessions', () => {
  it('is what the worktree of its session begins from, and is refused once there is one', async (t) => {
    const { running, item, start: begin, until, post, control } = await withCase(t);
    const { git } = running.repository;
    git('switch', '--quiet', '--create', 'feature/x');
    git('commit', '--quiet', '--allow-empty', '-m', 'On x');
    const absent = await post('/sessions', { type: 'implementing', base: 'absent' });
    assert.deepEqual([absent.status, absent.body.code], [422, 'invalid_state']);
    const { id } = await begin({ base: 'current' });
    const ready = await until(id, 'plan_ready');
    assert.equal(ready.base_commit, git('rev-parse', 'feature/x').trim());
    await control('abort');
    const again = await post('/sessions', { type: 'implementing', base: 'main' });
    assert.deepEqual([again.status, again.body.code], [409, 'already_exists']);
    assert.match(again.body.detail, /has a worktree already, from feature\/x\./);
    const { body } = await running.call('GET', `/api/worktrees/${item.id}/base`);
    assert.equal(body.base, 'feature/x');
  });
});
