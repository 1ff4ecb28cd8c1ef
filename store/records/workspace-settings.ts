import { type Static, Type } from 'typebox';
import { maybe } from './fields.ts';

const Project = Type.Object({
  name: Type.String({
    description: 'The project name; `default` is for Work items that name none',
  }),
  path: Type.String({ description: 'The path as written, or the remote if there is none' }),
  place: Type.String({ description: 'The absolute path' }),
  of: Type.Enum(['settings', 'flag', 'remote'], {
    description:
      '`flag`: --repo names it, and overrides the settings. `remote`: workspace.md names its remote, and this machine has no path for it',
  }),
  remote: Type.Optional(
    Type.String({ description: 'The remote that identifies the project on every machine' }),
  ),
  repository: Type.Boolean({ description: 'Whether there is a git repository' }),
});

/** The projects and the provider in force. */
export const WorkspaceSettings = Type.Object(
  {
    file: Type.String({ description: 'workspace.md, absolute' }),
    provider: Type.String({ description: 'The default for new sessions' }),
    max_sessions: Type.Integer({ description: 'The limit of sessions that plan or work at once' }),
    projects: Type.Array(Project),
    waiting: Type.Array(Type.String(), {
      description: 'Settings in the file that are not trusted yet',
    }),
  },
  { $id: 'WorkspaceSettings' },
);
export type WorkspaceSettings = Static<typeof WorkspaceSettings>;

/** A change of these settings. Null removes a setting from workspace.md. */
export const WorkspaceSettingsChange = Type.Object({
  provider: maybe(Type.String({ minLength: 1, maxLength: 100 })),
  max_sessions: maybe(Type.Integer({ minimum: 1, maximum: 64 })),
  projects: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' }),
      Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 4096 })]),
      {
        additionalProperties: false,
        description:
          'The repositories to set, by project name, each the path of a directory on this machine; other projects stay. Paths are kept in `.dossier/local.md`, and workspace.md has the remote. Null removes the project from both',
      },
    ),
  ),
});
export type WorkspaceSettingsChange = Static<typeof WorkspaceSettingsChange>;
