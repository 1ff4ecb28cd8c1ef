import {
  changeWorkspaceSettings,
  readWorkspaceSettings,
} from '../lib/daemon/system/workspace-settings.ts';
import { tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { WorkspaceSettings, WorkspaceSettingsChange } from '../store/records/workspace-settings.ts';

type Read = Awaited<ReturnType<typeof readWorkspaceSettings>>;
const told = ({ settings, etag }: Read) => tagged(settings, etag);

export const settingsRoutes = [
  route('GET /settings', {
    summary: 'Read which repositories are worked on, and who works',
    description: 'What holds now. While workspace.md cannot be read, what it last said.',
    response: WorkspaceSettings,
    handler: async (_input, service) => told(await readWorkspaceSettings(service)),
  }),
  route('PUT /settings', {
    summary: 'Name repositories and the provider of new sessions',
    description:
      'Written into workspace.md; every other byte of the file stays, and what is written holds at once. What is not given stays as it is; null takes a setting out, and its default holds.',
    body: WorkspaceSettingsChange,
    response: WorkspaceSettings,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ body, ifMatch }, service) =>
      told(await changeWorkspaceSettings(service, body, ifMatch)),
  }),
];
