import { type Static, Type } from 'typebox';
import { Time } from './fields.ts';

/** One commit of the workspace's repository, with its changes to a Work item. */
export const HistoryEntry = Type.Object(
  {
    commit: Type.String(),
    author: Type.String(),
    email: Type.String(),
    at: Time,
    message: Type.String(),
    files: Type.Array(
      Type.Object({
        path: Type.String({ description: "Relative to the Work item's directory" }),
        change: Type.Enum(['added', 'modified', 'removed']),
      }),
    ),
  },
  { $id: 'HistoryEntry' },
);
export type HistoryEntry = Static<typeof HistoryEntry>;
