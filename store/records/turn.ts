import { type Static, Type } from 'typebox';
import { Id, Oid, orNull, Sha256, Time } from './fields.ts';

const OidOrNull = orNull(Oid);

/** The parts of a git directory that can make git run programs: its settings, and the hash of its hooks. */
const ProgramSettings = Type.Object({ config: Type.String(), hooks: orNull(Sha256) });
export type ProgramSettings = Static<typeof ProgramSettings>;

/** The repositories inside a worktree before a turn. */
const RecordedRepositories = Type.Object({
  /** Ignored directories are skipped; without rules, as in records of older releases, none is. */
  rules: Type.Optional(Type.Object({ commit: Oid, own: Type.String() })),
  /** By path; null if `.git` is not a directory. */
  repositories: Type.Record(Type.String(), orNull(ProgramSettings)),
  /** The target of each `.git` file or link. */
  pointers: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** Git directories that no `.git` file points to, by path. */
  bare: Type.Optional(Type.Record(Type.String(), ProgramSettings)),
  /** The worktree's own submodule repositories, by name. */
  modules: Type.Record(Type.String(), ProgramSettings),
});
export type RecordedRepositories = Static<typeof RecordedRepositories>;

/**
 * A turn with a repository of its own that is not imported yet. On this machine only, from before that
 * repository is created until all of it is imported.
 */
export const TurnRecord = Type.Object({
  case_id: Id,
  /** Null for a setup. */
  session_id: orNull(Id),
  /** The marker in the environment of its processes. */
  marker: Type.String({ minLength: 1 }),
  /** The id of the worktree record; nothing is imported into a worktree created later. */
  worktree_created_at: Time,
  /** The operator's repository, which pins the commits of the start of the turn. */
  common_dir: Type.Optional(Type.String({ minLength: 1 })),
  /** The worktree's `.git` file points to it during the turn, because there is no sandbox. */
  pointed: Type.Boolean(),
  /** The branch as a full ref; `HEAD` if it is detached. */
  ref: Type.String({ pattern: '^(HEAD|refs/heads/.+)$' }),
  head: OidOrNull,
  /** The index, and the state of a merge in progress. */
  index: Sha256,
  operation: Type.Record(Type.String(), Sha256),
  /** Absent in records of a setup by older releases. */
  guarded: Type.Optional(RecordedRepositories),
});
export type TurnRecord = Static<typeof TurnRecord>;
