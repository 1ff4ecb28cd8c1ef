import { type Static, Type } from 'typebox';
import { Directory } from './worktree.ts';

/** A worktree that is being made or removed, or a file of one that is moved: noted before the first step, forgotten after the last. */
export const WorktreeChange = Type.Object({
  case_id: Type.String(),
  change: Type.Enum(['make', 'remove', 'move']),
  path: Directory,
  branch: Type.String(),
  common_dir: Directory,
  /** What is moved, from the top of the worktree. */
  moved: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() })),
});
export type WorktreeChange = Static<typeof WorktreeChange>;
