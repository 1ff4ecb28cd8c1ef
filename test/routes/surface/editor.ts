import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeFiles } from '../../helpers/repository.ts';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, made, type Row, worktree } from './surface.ts';

/** A call about files in the worktree, and what is there afterwards. */
const edits = (
  row: Pick<Row, 'method' | 'does' | 'status'> & { path: string; query?: string; body?: object },
  there: string[],
  gone: string[] = [],
): Row => ({
  ...row,
  path: `/cases/:id/editor/${row.path}`,
  call: async () => {
    const { case_id, path } = await worktree();
    writeFiles(path, { 'edited/here.txt': 'x' });
    return call(row.method, `/cases/${case_id}/editor/${row.path}${row.query ?? ''}`, row.body);
  },
  check: async () => {
    const { path } = await worktree();
    for (const name of there) assert.ok(existsSync(join(path, name)), name);
    for (const name of gone) assert.ok(!existsSync(join(path, name)), name);
  },
});

const EDITOR: Row[] = [
  {
    method: 'POST',
    path: '/projects/:id/files',
    does: 'creates or reads a file in project scope',
    call: async () => {
      await made('/projects/default/files', { path: 'project.txt', content: 'a row\n' });
      return call('POST', '/projects/default/files', { path: 'project.txt' });
    },
    status: 200,
    check: ({ body }: Answered<{ content: string }>) => assert.equal(body.content, 'a row\n'),
  },
  edits(
    {
      method: 'POST',
      path: 'files',
      does: 'creates a file in the worktree',
      status: 201,
      body: { path: 'edited/new.txt', content: 'new' },
    },
    ['edited/new.txt'],
  ),
  edits(
    {
      method: 'DELETE',
      path: 'files',
      does: 'deletes a file from the worktree',
      status: 204,
      query: '?path=edited/here.txt',
    },
    ['edited'],
    ['edited/here.txt'],
  ),
  edits(
    {
      method: 'POST',
      path: 'rename',
      does: 'renames a file in the worktree',
      status: 200,
      body: { from: 'edited/here.txt', to: 'edited/there.txt' },
    },
    ['edited/there.txt'],
    ['edited/here.txt'],
  ),
  edits(
    {
      method: 'POST',
      path: 'directories',
      does: 'creates a directory in the worktree',
      status: 201,
      body: { path: 'edited/folder' },
    },
    ['edited/folder'],
  ),
];

describeRows('editor', EDITOR);
