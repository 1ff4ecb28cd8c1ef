import { Type } from 'typebox';
import {
  changeConfig,
  readWorktreeConfig,
  type ServedConfig,
} from '../lib/code/worktrees/config.ts';
import { clearSnapshots, listSnapshots } from '../lib/code/worktrees/setup/share-upkeep.ts';
import { tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { ListedSnapshot } from '../store/records/shared-snapshot.ts';
import { WorktreeConfig, WorktreeConfigChange } from '../store/records/worktree-config.ts';

export const worktreeSettingRoutes = [
  route('GET /api/worktrees/shared', {
    operationId: 'listSharedSnapshots',
    summary: 'List the snapshots of installed directories, the most recently used first',
    description:
      'With `share` in the settings, new worktrees get copies of them instead of running the command again.',
    response: Type.Array(ListedSnapshot),
    handler: (_input, { store }) => listSnapshots(store),
  }),
  route('DELETE /api/worktrees/shared', {
    operationId: 'deleteSharedSnapshots',
    summary: 'Delete the snapshots of installed directories',
    description: 'Worktrees keep their copies. The next new worktree installs again.',
    handler: (_input, service) => clearSnapshots(service),
  }),
  route('GET /api/worktrees/config', {
    operationId: 'getWorktreeConfig',
    summary: 'Read the settings of worktrees',
    response: WorktreeConfig,
    handler: async (_input, { store }) => configured(await readWorktreeConfig(store)),
  }),
  route('PUT /api/worktrees/config', {
    operationId: 'putWorktreeConfig',
    // The settings contain commands.
    summary: 'Change the settings of worktrees',
    description:
      'Writes to `worktrees` in workspace.md and changes nothing else in the file. null removes a setting, so that its default applies.',
    body: WorktreeConfigChange,
    response: WorktreeConfig,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ body, ifMatch }, { store }) =>
      configured(await changeConfig(store, body, ifMatch)),
  }),
];

const configured = ({ config, etag }: ServedConfig) => tagged(config, etag);
