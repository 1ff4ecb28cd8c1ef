import { type Static, Type } from 'typebox';
import { Directory } from './worktree.ts';

/** A worktree operation in progress (create, remove, or move a file): recorded before its first step, deleted after its last. */
export const WorktreeChange = Type.Object({
  case_id: Type.String(),
  change: Type.Enum(['make', 'remove', 'move']),
  path: Directory,
  branch: Type.String(),
  common_dir: Directory,
  /** The paths of a move, relative to the top of the worktree. */
  moved: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() })),
});
export type WorktreeChange = Static<typeof WorktreeChange>;
