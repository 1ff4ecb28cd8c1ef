import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { assertProblem, withCase } from '../helpers/work-item.ts';

describe('GET /api/worktrees/{case_id}/memory-root', () => {
  it('says where memory is, with a worktree or without, also after a move by hand', async (t) => {
    const { call, at, item, dir, running } = await withCase(t);
    const root = `/api/worktrees/${item.id}/memory-root`;
    const global_path = join(running.workspace, 'memory');
    const known = { case_id: item.id, global_path };
    const first = await call('GET', root);
    assert.deepEqual(
      [first.status, first.body],
      [200, { ...known, path: join(dir, 'memory'), exists: false }],
    );
    await call('PUT', `${at}/memory/notes.md`, 'x');
    const moved = join(running.workspace, 'cases/moved');
    renameSync(dir, moved);
    await eventually(async () =>
      assert.deepEqual((await call('GET', root)).body, {
        ...known,
        path: join(moved, 'memory'),
        exists: true,
      }),
    );
  });

  it('is 404 for nobody', async (t) => {
    const { call } = await withCase(t);
    for (const id of [randomUUID(), 'nobody'])
      assertProblem(await call('GET', `/api/worktrees/${id}/memory-root`), 404, 'not_found');
  });
});
