import { type Static, Type } from 'typebox';

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
        about: Type.String({ description: 'Such as `bubblewrap`, `cgroup`' }),
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
