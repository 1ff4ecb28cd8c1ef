import {
  changeWorkspaceSettings,
  readWorkspaceSettings,
} from '../lib/daemon/system/workspace-settings.ts';
import { tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { WorkspaceSettings, WorkspaceSettingsChange } from '../store/records/workspace-settings.ts';

type Read = Awaited<ReturnType<typeof readWorkspaceSettings>>;
const toAnswer = ({ settings, etag }: Read) => tagged(settings, etag);

export const settingsRoutes = [
  route('GET /settings', {
    summary: 'Read the projects and the provider',
    description: 'The current values. While workspace.md is invalid, its last valid values.',
    response: WorkspaceSettings,
    handler: async (_input, service) => toAnswer(await readWorkspaceSettings(service)),
  }),
  route('PUT /settings', {
    summary: 'Change the projects and the provider of new sessions',
    description:
      'Writes to workspace.md, changes nothing else in the file, and applies at once. null removes a setting, so that its default applies.',
    body: WorkspaceSettingsChange,
    response: WorkspaceSettings,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ body, ifMatch }, service) =>
      toAnswer(await changeWorkspaceSettings(service, body, ifMatch)),
  }),
];
