import { type Static, Type } from 'typebox';
import { Id, Oid, Sha256, Time } from './id.ts';
import { orNull } from './or-null.ts';

const OidOrNull = orNull(Oid);

/** By what a git directory can have programs run. */
const Arms = Type.Object({ config: Type.String(), hooks: orNull(Sha256) });

/**
 * A turn that has a repository of its own, which is not taken in yet: of this machine only, there from before that
 * repository until all of it is where it belongs.
 */
export const TurnRecord = Type.Object({
  case_id: Id,
  /** Null where it is a set-up. */
  session_id: orNull(Id),
  /** In the environment of each of its processes. */
  marker: Type.String({ minLength: 1 }),
  /** Of the worktree's record: into another one nothing is taken in. */
  worktree_created_at: Time,
  /** The operator's repository, where it is pinned what the turn began with. */
  common_dir: Type.Optional(Type.String({ minLength: 1 })),
  /** The worktree's `.git` file leads to it while the turn goes on: nothing shuts the agent in. */
  pointed: Type.Boolean(),
  /** The branch as a full ref; `HEAD` where the worktree is on none. */
  ref: Type.String({ pattern: '^(HEAD|refs/heads/.+)$' }),
  head: OidOrNull,
  /** What is staged, and what merge is under way. */
  index: Sha256,
  operation: Type.Record(Type.String(), Sha256),
  /** The repositories inside the worktree. Of a set-up, earlier versions noted none. */
  guarded: Type.Optional(
    Type.Object({
      /** Earlier versions noted none. */
      rules: Type.Optional(Type.Object({ commit: Oid, own: Type.String() })),
      repositories: Type.Record(Type.String(), orNull(Arms)),
      /** Where a `.git` that is no directory leads. */
      pointers: Type.Optional(Type.Record(Type.String(), Type.String())),
      /** Git directories that are nobody's `.git`. */
      bare: Type.Optional(Type.Record(Type.String(), Arms)),
      modules: Type.Record(Type.String(), Arms),
    }),
  ),
});
export type TurnRecord = Static<typeof TurnRecord>;
