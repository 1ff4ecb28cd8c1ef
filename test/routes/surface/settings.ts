import assert from 'node:assert/strict';
import type { WorkspaceSettings } from '../../../store/records/workspace-settings.ts';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, get, type Row } from './surface.ts';

const SETTINGS: Row[] = [
  {
    method: 'GET',
    path: '/settings',
    does: 'tells which repositories are worked on, and who works',
    call: () => call('GET', '/settings'),
    status: 200,
    check: ({ body }: Answered<WorkspaceSettings>) =>
      assert.deepEqual([body.provider, body.projects[0]?.name], ['runbook', 'default']),
  },
  {
    method: 'PUT',
    path: '/settings',
    does: 'changes them in workspace.md',
    call: async () => {
      const { max_sessions } = await get<WorkspaceSettings>('/settings');
      return call('PUT', '/settings', { max_sessions: max_sessions + 1 });
    },
    status: 200,
    check: async ({ body }: Answered<WorkspaceSettings>) =>
      assert.deepEqual(await get('/settings'), body),
  },
];

describeRows('settings', SETTINGS);
