import { type Static, Type } from 'typebox';

const Bytes = Type.Integer({ description: 'Bytes' });

/** Where things are on this machine, and what of the boundary around agents it cannot hold. */
export const Machine = Type.Object(
  {
    workspace: Type.String({ description: 'Absolute' }),
    internals: Type.String({
      description: "The daemon's own directory in it: journal, worktrees, what was replaced",
    }),
    disk: Type.Object({ free: Bytes, total: Bytes }, { description: "The workspace's" }),
    unheld: Type.Array(
      Type.Object({
        about: Type.String({ description: 'Such as `bubblewrap`, `cgroup`' }),
        sentence: Type.String({ description: 'What cannot be had here, and what follows from it' }),
      }),
    ),
  },
  { $id: 'Machine' },
);
export type Machine = Static<typeof Machine>;
