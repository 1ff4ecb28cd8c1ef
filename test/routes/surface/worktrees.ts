import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Case } from '../../../store/records/case.ts';
import type { Worktree } from '../../../store/records/worktree.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import type { Answered } from '../../helpers/service.ts';
import {
  call,
  describeRows,
  file,
  get,
  made,
  newCase,
  type Row,
  running,
  worktree,
} from './surface.ts';

const WORKTREES: Row[] = [
  {
    method: 'GET',
    path: '/api/worktrees',
    does: 'lists all worktrees',
    call: async () => {
      await worktree();
      return call('GET', '/api/worktrees');
    },
    status: 200,
    check: async ({ body }: Answered<Worktree[]>) => {
      const { case_id, path } = await worktree();
      assert.equal(body.find((one) => one.case_id === case_id)?.path, path);
    },
  },
  {
    method: 'POST',
    path: '/api/worktrees',
    does: 'creates a worktree for a Work item',
    call: async () => call('POST', '/api/worktrees', { case_id: (await newCase()).id }),
    status: 201,
    check: ({ body }: Answered<Worktree>) =>
      assert.match(running.repository.git('worktree', 'list'), new RegExp(body.path)),
  },
  {
    method: 'DELETE',
    path: '/api/cases/:id/worktree',
    does: 'detaches and deletes the worktree',
    call: async () => {
      const { id } = await newCase();
      await made('/api/worktrees', { case_id: id });
      const answer = await call('DELETE', `/api/cases/${id}/worktree`);
      assert.deepEqual(await get(`/api/worktrees/${id}/health`), { exists: false });
      return answer;
    },
    status: 204,
  },
  {
    method: 'GET',
    path: '/api/worktrees/:case_id/health',
    does: 'tells git status and lock state',
    call: async () => call('GET', `/api/worktrees/${(await worktree()).case_id}/health`),
    status: 200,
    check: ({ body }: Answered<{ exists: boolean; dirty: boolean; lock: { locked: boolean } }>) =>
      assert.deepEqual([body.exists, body.dirty, body.lock.locked], [true, false, false]),
  },
  {
    method: 'GET',
    path: '/api/worktrees/:case_id/status',
    does: 'tells the current status',
    call: async () => call('GET', `/api/worktrees/${(await worktree()).case_id}/status`),
    status: 200,
    check: async ({ body }: Answered<Worktree & { files: object[] }>) =>
      assert.deepEqual([body.path, body.files], [(await worktree()).path, []]),
  },
  {
    method: 'POST',
    path: '/api/worktrees/:case_id/attach',
    does: 'attaches an existing directory as the worktree',
    call: async () => {
      const path = join(temporaryDirectory(file), 'own');
      running.repository.git('worktree', 'add', '--quiet', path);
      return call('POST', `/api/worktrees/${(await newCase()).id}/attach`, { path });
    },
    status: 201,
    check: ({ body }: Answered<Worktree>) => assert.equal(body.attached, true),
  },
  {
    method: 'POST',
    path: '/api/worktrees/:case_id/verify-isolation',
    does: 'checks isolation from the main branch',
    call: async () => call('POST', `/api/worktrees/${(await worktree()).case_id}/verify-isolation`),
    status: 200,
    check: ({ body }: Answered<{ isolated: boolean }>) => assert.equal(body.isolated, true),
  },
  {
    method: 'GET',
    path: '/api/worktrees/stale',
    does: 'lists stale worktrees (no active session, past the time-to-live)',
    call: async () => {
      await worktree();
      return call('GET', '/api/worktrees/stale');
    },
    status: 200,
    check: ({ body }: Answered<object[]>) => assert.deepEqual(body, []),
  },
  {
    method: 'POST',
    path: '/api/worktrees/cleanup',
    does: 'cleans stale worktrees; operator-triggered only',
    call: async () => {
      await worktree();
      return call('POST', '/api/worktrees/cleanup');
    },
    status: 200,
    check: ({ body }: Answered<object>) =>
      assert.deepEqual(body, { dry_run: false, removed: [], skipped: [] }),
  },
  {
    method: 'GET',
    path: '/api/worktrees/config',
    does: 'returns the worktree configuration',
    call: () => call('GET', '/api/worktrees/config'),
    status: 200,
    check: ({ body }: Answered<{ ttl_hours: number }>) => assert.equal(body.ttl_hours, 168),
  },
  {
    method: 'PUT',
    path: '/api/worktrees/config',
    does: 'updates the configuration',
    call: () => call('PUT', '/api/worktrees/config', { ttl_hours: 24 }),
    status: 200,
    check: async ({ body }: Answered<object>) => {
      assert.deepEqual(await get('/api/worktrees/config'), body);
      await call('PUT', '/api/worktrees/config', { ttl_hours: null });
    },
  },
  {
    method: 'POST',
    path: '/api/worktrees/branch-name',
    does: 'generates a branch name for a Work item',
    call: async () => call('POST', '/api/worktrees/branch-name', { case_id: (await newCase()).id }),
    status: 200,
    check: ({ body }: Answered<{ branch: string }>) => assert.match(body.branch, /^work\/a-row-/),
  },
  {
    method: 'GET',
    path: '/api/worktrees/:case_id/memory-root',
    does: 'tells the memory root path of the worktree',
    call: async () => call('GET', `/api/worktrees/${(await worktree()).case_id}/memory-root`),
    status: 200,
    check: async ({ body }: Answered<{ path: string }>) => {
      const { path } = await get<Case>(`/cases/${(await worktree()).case_id}`);
      assert.equal(body.path, `${running.workspace}/${path}/memory`);
    },
  },
];

describeRows('worktrees', WORKTREES);
