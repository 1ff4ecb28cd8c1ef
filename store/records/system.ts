import { type Static, Type } from 'typebox';
import { orNull } from './fields.ts';

/** The running version. */
export const VersionInfo = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    api: Type.String({ description: 'The OpenAPI version of the document at /openapi.json' }),
    node: Type.String(),
    platform: Type.String(),
    // Null if it was not built in a repository.
    commit: orNull(Type.String()),
    built_at: orNull(Type.String()),
  },
  { $id: 'Version' },
);
export type VersionInfo = Static<typeof VersionInfo>;

const Bytes = Type.Integer({ description: 'Bytes' });

/** Paths on this machine, and the parts of the sandbox that it cannot enforce. */
export const Machine = Type.Object(
  {
    workspace: Type.String({ description: 'Absolute' }),
    internals: Type.String({
      description: "The daemon's directory in the workspace: journal, worktrees, replaced files",
    }),
    disk: Type.Object(
      { free: Bytes, total: Bytes },
      { description: 'The disk of the workspace, in bytes' },
    ),
    unheld: Type.Array(
      Type.Object({
        about: Type.String({
          description:
            'Such as `cgroup`. `bubblewrap`: there is no sandbox. `sandbox`: it cannot be prepared, so nothing starts',
        }),
        sentence: Type.String({ description: 'What is not available here, and the consequence' }),
      }),
    ),
  },
  { $id: 'Machine' },
);
export type Machine = Static<typeof Machine>;

export const Health = Type.Object({
  status: Type.Literal('ok'),
  comparing: Type.Optional(
    Type.Object(
      {
        left: Type.Integer({ minimum: 0, description: 'Work items that are still to be compared' }),
      },
      {
        description:
          'While the daemon starts: it compares the workspace with its files. Most other calls wait until it is done.',
      },
    ),
  ),
});
export type Health = Static<typeof Health>;

const aboutGuide = {
  topic: Type.String({ description: 'The title as one word' }),
  title: Type.String(),
  summary: Type.String({ description: 'The first line' }),
  path: Type.String({ description: 'The path of the file, to which its links are relative' }),
};

/** A guide without its text. */
export const GuideEntry = Type.Object(aboutGuide, { $id: 'GuideEntry' });
export type GuideEntry = Static<typeof GuideEntry>;

export const Guide = Type.Object(
  { ...aboutGuide, text: Type.String({ description: 'Markdown' }) },
  { $id: 'Guide' },
);
export type Guide = Static<typeof Guide>;
