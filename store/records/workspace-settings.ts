import { type Static, Type } from 'typebox';
import { maybe } from './or-null.ts';

const Project = Type.Object({
  name: Type.String({ description: '`default` is that of Work items that name none' }),
  path: Type.String({ description: 'As it is written; a remote, where no path is' }),
  place: Type.String({ description: 'The same, absolute' }),
  of: Type.Enum(['settings', 'flag', 'remote'], {
    description:
      '`flag`: --repo names it, and wins over the settings. `remote`: workspace.md names its remote, and this machine has no path for it',
  }),
  remote: Type.Optional(
    Type.String({ description: 'By which it is the same project on every machine' }),
  ),
  repository: Type.Boolean({ description: 'There is a git repository' }),
});

/** Which repositories are worked on and who works, as far as it holds now. */
export const WorkspaceSettings = Type.Object(
  {
    file: Type.String({ description: 'workspace.md, absolute' }),
    provider: Type.String({ description: 'Of new sessions that name none' }),
    max_sessions: Type.Integer({ description: 'How many may plan or work at once' }),
    projects: Type.Array(Project),
    waiting: Type.Array(Type.String(), {
      description: 'The settings that stand in the file and hold once they are trusted',
    }),
  },
  { $id: 'WorkspaceSettings' },
);
export type WorkspaceSettings = Static<typeof WorkspaceSettings>;

/** What is to be of it: null takes a setting out of workspace.md. */
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
          'The repositories that are to be there under these names, each the path of a directory on this machine; the others stay. Paths are kept in `.dossier/local.md`, and workspace.md has the remote. Null takes one out of both',
      },
    ),
  ),
});
export type WorkspaceSettingsChange = Static<typeof WorkspaceSettingsChange>;
